import { ownMember } from '../../../base/runtime/index.js'
import {
  deployStepsSchema,
  formatMicroversion,
  IronicError,
  ironicErrors,
  orderedStepsSchema,
  pythonRepr,
  SINCE,
  formatClientValue,
  type JsonObject,
  type JsonSchema,
  type Microversion,
  type NodeRecord,
  type RunbookRecord,
} from '../../../base/wire/index.js'
import type { ProvisionRequest } from '../../conductor/core/conductor.js'
import { TRANSITIONS, PROVISION_VERBS } from '../../conductor/core/transitions.js'
import { runbookArgs } from './runbook-arguments.js'
import { schemaProblem, type PythonSchemaProblem } from '../api-schema.js'

/** The body of `PUT /v1/nodes/X/states/provision`, each member of its type. */
export interface ProvisionArgs {
  target?: string | null
  configdrive?: unknown
  clean_steps?: unknown
  deploy_steps?: unknown
  service_steps?: unknown
  rescue_password?: string | null
  disable_ramdisk?: boolean | null
  runbook?: string | null
}

/**
 * Microversion from which a target is allowed. Upstream's table has verbs as keys but is read by target, so `deploy` is
 * limited and its alias `active` is not, nor `undeploy` (Ironic's source).
 */
const VERB_SINCE: Readonly<Record<string, Microversion>> = {
  manage: 4,
  provide: 4,
  inspect: 6,
  abort: 13,
  clean: 15,
  adopt: 17,
  rescue: 38,
  unrescue: 38,
  deploy: 73,
}
/** Verbs whose microversion upstream checks after the state. */
const VERBS_CHECKED_LATE = { unhold: 85, service: SINCE.serviceSteps } as const
/** Microversion from which a node can be aborted in these states. */
const ABORT_SINCE: Readonly<Record<string, Microversion>> = { 'inspect wait': 41, 'wait call-back': 110 }

/** Records that a request refers to, besides its node. */
export interface References {
  /** Runbook of the request, if it exists. */
  runbook?: RunbookRecord | undefined
  /** Whether a node with this UUID exists; true by default. */
  hasNode?: (uuid: string) => boolean
}

/**
 * Checks a provision request in upstream's order, up to the point where the conductor takes over: version of the verb,
 * maintenance, state, config drive, runbook, disable_ramdisk, steps of the right verb, versions, the steps themselves.
 *
 * @throws IronicError 400, 403, 406 or 409
 */
export function checkProvision(
  node: NodeRecord,
  requested: ProvisionArgs,
  version: Microversion,
  { runbook, hasNode }: References = {},
): ProvisionRequest {
  let args = requested
  // A null target reaches the check of states, which quotes it as Python does.
  const target = args.target ?? 'None'
  if ((ownMember(VERB_SINCE, target) ?? 1) > version) throw ironicErrors.notAcceptable()
  checkState(node, target)
  if (hasContent(args.configdrive)) checkConfigdrive(args.configdrive, target, version)
  if (requested.runbook != null)
    args = { ...requested, ...runbookArgs(foundRunbook(requested.runbook, version, runbook), node, requested, version) }
  if (args.disable_ramdisk != null) checkDisableRamdisk(target, version)
  checkStepsBelong(args, target, node, version)
  checkNeeded(args, target)

  const request: ProvisionRequest = { target }
  if (hasContent(args.configdrive)) request.configdrive = args.configdrive
  if (args.deploy_steps != null) request.deploy_steps = checkSteps('deploy_steps', args.deploy_steps, deployStepsSchema)
  if (args.clean_steps != null) request.clean_steps = checkSteps('clean_steps', args.clean_steps, orderedStepsSchema)
  if (args.service_steps != null)
    request.service_steps = checkSteps('service_steps', args.service_steps, orderedStepsSchema)
  for (const step of [...(request.clean_steps ?? []), ...(request.service_steps ?? [])]) checkChildren(step, hasNode)
  if (args.rescue_password != null) request.rescue_password = args.rescue_password
  if (args.disable_ramdisk != null) request.disable_ramdisk = args.disable_ramdisk
  checkRebuild(node, target)
  return request
}

function checkState(node: NodeRecord, target: string): void {
  if (node.maintenance && (target === 'active' || target === 'rebuild'))
    throw ironicErrors.nodeInMaintenance('provisioning', node.uuid)
  const known = Object.hasOwn(PROVISION_VERBS, target)
  if (known && PROVISION_VERBS[target]!.from.includes(node.provision_state)) {
    if (node.maintenance && target === 'deploy') throw ironicErrors.nodeInMaintenance('provisioning', node.uuid)
    return
  }
  // Verbs of the conductor itself pass upstream's check of the state, and are then refused.
  if (!known && Object.hasOwn(TRANSITIONS[node.provision_state].on, target))
    throw new IronicError(400, `The requested action "${target}" could not be understood.`)
  // Report a held lock first: it explains an impossible verb better than the state, which is about to change.
  if (node.reservation !== null) throw ironicErrors.nodeLocked(node.uuid, node.reservation)
  throw ironicErrors.invalidStateRequested(target, node.uuid, node.provision_state)
}

/** Refuses a rebuild without an image, where upstream fails with 500; a difference on purpose. */
function checkRebuild({ uuid, instance_info, protected: isProtected }: NodeRecord, target: string): void {
  if (target === 'rebuild' && !isProtected && !instance_info.image_source && !instance_info.boot_iso)
    throw new IronicError(
      400,
      `Node ${uuid} can not be rebuilt: its instance_info has neither image_source nor boot_iso.`,
    )
}

const configdriveSchema: JsonSchema = {
  anyOf: [
    {
      type: 'object',
      properties: {
        meta_data: { type: 'object' },
        network_data: { type: 'object' },
        user_data: { type: ['object', 'array', 'string', 'null'] },
        vendor_data: { type: 'object' },
      },
      additionalProperties: false,
    },
    { type: ['string', 'null'] },
  ],
}

/** Whether a config drive has content: an empty text or object has none. */
const hasContent = (configdrive: unknown): boolean =>
  typeof configdrive === 'object' && configdrive !== null ? Object.keys(configdrive).length > 0 : Boolean(configdrive)

/** Checks a config drive: a URL, base64 of a gzipped ISO, or an object of its parts. */
function checkConfigdrive(configdrive: unknown, target: string, version: Microversion): void {
  const allowed = ['active', ...(version >= SINCE.configdriveOnRebuild ? ['rebuild'] : [])]
  if (!allowed.includes(target))
    throw new IronicError(
      400,
      `Adding a config drive is only supported when setting provision state to ${allowed.join(', ')}`,
    )
  const problem = schemaProblem(configdriveSchema, configdrive)
  if (problem) throw new IronicError(400, `Invalid configdrive format: ${withPlace(problem)}`)
  const since = (what: string, minor: Microversion) =>
    new IronicError(400, `${what} is only supported starting with API version ${formatMicroversion(minor)}`)
  if (typeof configdrive === 'object') {
    if (version < SINCE.jsonConfigdrive) throw since('Providing a JSON object for configdrive', SINCE.jsonConfigdrive)
    if ('vendor_data' in (configdrive as JsonObject) && version < SINCE.vendorData)
      throw since('Providing vendor_data in configdrive', SINCE.vendorData)
    return
  }
  const text = formatClientValue(configdrive)
  if (!text.includes('://') && /[^A-Za-z0-9+/=\n\r\t ]/.test(text))
    throw new IronicError(400, 'Invalid configdrive format: it is neither a JSON, nor a URL, nor a base64 string')
}

function foundRunbook(ident: string, version: Microversion, found: RunbookRecord | undefined): RunbookRecord {
  if (version < SINCE.runbooks) throw ironicErrors.notAcceptable()
  if (!found) throw new IronicError(404, `Runbook ${ident} could not be found.`)
  return found
}

function checkDisableRamdisk(target: string, version: Microversion): void {
  const since = target === 'clean' ? SINCE.cleanDisableRamdisk : SINCE.serviceDisableRamdisk
  if (target !== 'clean' && target !== 'service')
    throw new IronicError(400, 'disable_ramdisk is supported only with manual cleaning or servicing')
  if (version < since) throw ironicErrors.notAcceptable()
}

/** Whether there are steps: an empty list counts as absent, so any verb takes it. */
const hasSteps = (steps: unknown): boolean => Array.isArray(steps) && steps.length > 0

/** Checks that the other arguments fit the target, and the client's version. */
function checkStepsBelong(args: ProvisionArgs, target: string, node: NodeRecord, version: Microversion): void {
  if (hasSteps(args.clean_steps) && target !== 'clean') throw misplaced('clean_steps', 'clean')
  if (hasSteps(args.deploy_steps)) {
    if (version < SINCE.deploySteps) throw ironicErrors.notAcceptable(formatMicroversion(SINCE.deploySteps))
    // The alias `deploy` is refused here: upstream compares the literal targets.
    if (target !== 'active' && target !== 'rebuild') throw misplaced('deploy_steps', 'active or rebuild')
  }
  if (args.rescue_password != null && target !== 'rescue') throw misplaced('rescue_password', 'rescue')
  if (target === 'abort' && (ABORT_SINCE[node.provision_state] ?? 1) > version) throw ironicErrors.notAcceptable()
  if (target === 'unhold' && version < VERBS_CHECKED_LATE.unhold) throw ironicErrors.notAcceptable()
  if (hasSteps(args.service_steps) && target !== 'service') throw misplaced('service_steps', 'service')
  if (target === 'service' && version < VERBS_CHECKED_LATE.service) throw ironicErrors.notAcceptable()
}

function checkNeeded(args: ProvisionArgs, target: string): void {
  if (target === 'clean' && !hasSteps(args.clean_steps)) throw required('"clean_steps"', 'clean')
  if (target === 'service' && !hasSteps(args.service_steps)) throw required('"service_steps"', 'service')
  if (target === 'rescue' && !args.rescue_password?.trim()) throw required('A non-empty "rescue_password"', 'rescue')
}

const required = (what: string, target: string) =>
  new IronicError(400, `${what} is required when setting target provision state to ${target}`)
const misplaced = (name: string, target: string) =>
  new IronicError(400, `"${name}" is only valid when setting target provision state to ${target}`)

/** Checks that the nodes to which a step is limited exist; whether they are children is checked when it runs. */
function checkChildren(step: JsonObject, hasNode: References['hasNode']): void {
  const limit = step.limit_child_node_execution
  if (step.execute_on_child_nodes !== true || !Array.isArray(limit)) return
  for (const uuid of limit as unknown[]) {
    if (typeof uuid !== 'string' || !LOOSE_UUID_PATTERN.test(uuid))
      throw new IronicError(
        400,
        `Invalid entry detected for execute_on_child_node parameter in step ${formatClientValue(step.step)}.`,
      )
    if (hasNode?.(uuid) === false) throw ironicErrors.nodeNotFound(uuid)
  }
}

const LOOSE_UUID_PATTERN = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i

function checkSteps(name: string, steps: unknown, schema: JsonSchema): JsonObject[] {
  const problem = schemaProblem(schema, steps)
  if (!problem) return steps as JsonObject[]
  throw ironicErrors.invalidSteps(name, withPlace(problem))
}

/**
 * The problem with its place. Upstream adds the schema to the sentence; only its first line and the place are repeated
 * here.
 */
function withPlace({ message, path, value }: PythonSchemaProblem): string {
  const place = path.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `[${pythonRepr(key)}]`)).join('')
  return `${message}\n\nOn instance${place}:\n    ${pythonRepr(value)}`
}
