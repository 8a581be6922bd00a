import {
  deployStepsSchema,
  ironicErrors,
  IronicError,
  orderedStepsSchema,
  pythonRepr,
  SINCE,
  type JsonObject,
  type JsonSchema,
  type Microversion,
  type NodeRecord,
  type RunbookRecord,
} from '../../wire/index.js'
import type { ProvisionRequest } from '../conductor/conductor.js'
import { VERBS } from '../conductor/transitions.js'
import { runbookArgs } from './runbook-steps.js'
import { schemaProblem } from './schema.js'

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
 * From which microversion a target can be asked for. Upstream's table is keyed by verb but looked up by target, so
 * `deploy` is gated and its alias `active` is not, nor `undeploy` (facts/ironic.md 1.3).
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
/** These two are gated as well, but only once the state has been found right. */
const LATE_VERB_SINCE: Readonly<Record<string, Microversion>> = { unhold: 85, service: SINCE.serviceSteps }
/** Aborting came to some states later than to cleaning. */
const ABORT_SINCE: Readonly<Record<string, Microversion>> = { 'inspect wait': 41, 'wait call-back': 110 }

/** What a request may name besides its node. */
export interface Known {
  /** The one that the request names, if it is there. */
  runbook?: RunbookRecord | undefined
  /** By UUID; every node is thought to be there unless told otherwise. */
  hasNode?: (uuid: string) => boolean
}

/**
 * Checks a provision request in upstream's order up to where the conductor takes over: version of the verb, maintenance,
 * state, configdrive, runbook, disable_ramdisk, which steps go with which verb, versions, the steps themselves.
 *
 * @throws IronicError 400, 403, 406 or 409
 */
export function checkProvision(
  node: NodeRecord,
  ident: string,
  given: ProvisionArgs,
  version: Microversion,
  { runbook, hasNode }: Known = {},
): ProvisionRequest {
  let args = given
  // A null target reaches the check of states, and is quoted as Python does.
  const target = args.target ?? 'None'
  if ((VERB_SINCE[target] ?? 1) > version) throw ironicErrors.notAcceptable()
  checkState(node, ident, target)
  checkRebuild(node, target)
  if (args.configdrive !== undefined && args.configdrive !== null) checkConfigdrive(args.configdrive, target, version)
  if (given.runbook != null)
    args = { ...given, ...runbookArgs(theRunbook(given.runbook, version, runbook), node, given, version) }
  if (args.disable_ramdisk) checkDisableRamdisk(target, version)
  checkStepsBelong(args, target)
  if (target === 'abort' && (ABORT_SINCE[node.provision_state] ?? 1) > version) throw ironicErrors.notAcceptable()
  if ((LATE_VERB_SINCE[target] ?? 1) > version) throw ironicErrors.notAcceptable()
  if (args.deploy_steps != null && version < SINCE.deploySteps) throw ironicErrors.notAcceptable()

  const request: ProvisionRequest = { target }
  if (args.configdrive !== undefined && args.configdrive !== null) request.configdrive = args.configdrive
  if (args.deploy_steps != null) request.deploy_steps = checkSteps('deploy_steps', args.deploy_steps, deployStepsSchema)
  if (args.clean_steps != null) request.clean_steps = checkSteps('clean_steps', args.clean_steps, orderedStepsSchema)
  if (args.service_steps != null)
    request.service_steps = checkSteps('service_steps', args.service_steps, orderedStepsSchema)
  for (const step of [...(request.clean_steps ?? []), ...(request.service_steps ?? [])]) checkChildren(step, hasNode)
  if (args.rescue_password != null) request.rescue_password = args.rescue_password
  if (args.disable_ramdisk != null) request.disable_ramdisk = args.disable_ramdisk
  return request
}

function checkState(node: NodeRecord, ident: string, target: string): void {
  if (node.maintenance && (target === 'active' || target === 'deploy' || target === 'rebuild'))
    throw ironicErrors.nodeInMaintenance(target === 'rebuild' ? 'rebuild' : 'provisioning', ident)
  if (Object.hasOwn(VERBS, target) && VERBS[target]!.from.includes(node.provision_state)) return
  // A held lock explains an impossible verb better than the state, which is about to change.
  if (node.reservation !== null) throw ironicErrors.nodeLocked(node.uuid, node.reservation)
  throw ironicErrors.invalidStateRequested(target, node.uuid, node.provision_state)
}

/** Upstream trips over a rebuild that has nothing to write, 500; a difference on purpose. */
function checkRebuild({ uuid, instance_info }: NodeRecord, target: string): void {
  if (target === 'rebuild' && !instance_info.image_source && !instance_info.boot_iso)
    throw new IronicError(
      400,
      `Node ${uuid} can not be rebuilt: its instance_info has neither image_source nor boot_iso.`,
    )
}

const configdriveSchema: JsonSchema = {
  type: 'object',
  properties: {
    meta_data: { type: ['object', 'null'] },
    network_data: { type: ['object', 'null'] },
    user_data: { type: ['object', 'array', 'string', 'null'] },
    vendor_data: { type: ['object', 'null'] },
  },
  additionalProperties: false,
}

/** A URL, base64 of a gzipped ISO, or an object of its parts. */
function checkConfigdrive(configdrive: unknown, target: string, version: Microversion): void {
  const rebuild = target === 'rebuild' && version >= SINCE.configdriveOnRebuild
  if (target !== 'active' && target !== 'deploy' && !rebuild)
    throw new IronicError(
      400,
      'Adding a config drive is only supported when setting provision state to active or rebuild',
    )
  if (typeof configdrive === 'object') {
    const parts = configdrive as JsonObject
    if (version < SINCE.jsonConfigdrive) throw ironicErrors.notAcceptable()
    if (parts.vendor_data != null && version < SINCE.vendorData) throw ironicErrors.notAcceptable()
    const problem = schemaProblem(configdriveSchema, configdrive)
    if (problem) throw new IronicError(400, `Invalid configdrive: ${problem.message}`)
    return
  }
  const text = String(configdrive).replaceAll(/\s/g, '')
  if (!text.includes('://') && !/^[A-Za-z0-9+/]*={0,2}$/.test(text))
    throw new IronicError(400, 'Invalid configdrive: it is neither a URL nor base64 text nor an object')
}

function theRunbook(ident: string, version: Microversion, found: RunbookRecord | undefined): RunbookRecord {
  if (version < SINCE.runbooks) throw ironicErrors.notAcceptable()
  if (!found) throw new IronicError(404, `Runbook ${ident} could not be found.`)
  return found
}

function checkDisableRamdisk(target: string, version: Microversion): void {
  const since = target === 'clean' ? SINCE.cleanDisableRamdisk : SINCE.serviceDisableRamdisk
  if (target !== 'clean' && target !== 'service')
    throw new IronicError(400, 'disable_ramdisk is supported only for manual cleaning and servicing')
  if (version < since) throw ironicErrors.notAcceptable()
}

function checkStepsBelong(args: ProvisionArgs, target: string): void {
  const given = (steps: unknown) => Array.isArray(steps) && steps.length > 0
  if (target === 'clean' && !given(args.clean_steps)) throw required('clean_steps', 'clean')
  if (target === 'service' && !given(args.service_steps)) throw required('service_steps', 'service')
  if (target === 'rescue' && !args.rescue_password?.trim()) throw required('rescue_password', 'rescue')
  // An empty list passes with any verb, as if it had not been given.
  if (given(args.clean_steps) && target !== 'clean') throw misplaced('clean_steps', 'clean')
  if (given(args.service_steps) && target !== 'service') throw misplaced('service_steps', 'service')
  // The alias `deploy` is refused here: upstream compares the literal targets.
  if (given(args.deploy_steps) && target !== 'active' && target !== 'rebuild')
    throw misplaced('deploy_steps', 'active or rebuild')
}

const required = (name: string, target: string) =>
  new IronicError(400, `"${name}" is required when setting target provision state to ${target}`)
const misplaced = (name: string, target: string) =>
  new IronicError(400, `"${name}" is only valid when setting target provision state to ${target}`)

/** The nodes that a step is limited to are there; that they are children shows when it runs. */
function checkChildren(step: JsonObject, hasNode: Known['hasNode']): void {
  const limit = step.limit_child_node_execution
  if (step.execute_on_child_nodes !== true || !Array.isArray(limit)) return
  for (const uuid of limit as unknown[]) {
    if (typeof uuid !== 'string' || !UUID.test(uuid))
      throw new IronicError(
        400,
        `Invalid entry detected for execute_on_child_node parameter in step ${String(step.step)}.`,
      )
    if (hasNode?.(uuid) === false) throw ironicErrors.nodeNotFound(uuid)
  }
}

const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i

/** Upstream adds the schema to the sentence; the first line and the place are kept. */
function checkSteps(name: string, steps: unknown, schema: JsonSchema): JsonObject[] {
  const problem = schemaProblem(schema, steps)
  if (!problem) return steps as JsonObject[]
  const place = problem.path.map((key) => (/^\d+$/.test(key) ? `[${key}]` : `[${pythonRepr(key)}]`)).join('')
  throw ironicErrors.invalidSteps(name, `${problem.message}\n\nOn instance${place}:\n    ${pythonRepr(problem.value)}`)
}
