import {
  DRIVER_INTERFACES,
  ironicErrors,
  IronicError,
  PATCHABLE_NODE_FIELDS,
  patchedNodeSchema,
  SINCE,
  type JsonObject,
  type Microversion,
  type NodeRecord,
  type ProvisionState,
} from '../../wire/index.js'
import type { DriverDescription } from '../conductor/conductor.js'
import { UPDATE_ALLOWED } from '../conductor/transitions.js'
import type { NodePatch } from '../store/store.js'
import { applyPatch, type PatchOperation } from './json-patch.js'
import { checkDescription, checkNodeName, checkUuid, normalised, refuseNewerFields } from './node-rules.js'
import { checkDocument } from './schema.js'

/** Only here may a driver, an interface or the resource class change, unless the node is in maintenance. */
const RECONFIGURABLE: readonly ProvisionState[] = ['enroll', 'inspecting', 'inspect wait', 'manageable', 'available']

export interface NodePatchRequest {
  /** As the client addressed the node. */
  readonly ident: string
  readonly patch: readonly PatchOperation[]
  readonly version: Microversion
  readonly resetInterfaces: boolean
  readonly drivers: readonly DriverDescription[]
  /** The chassis of a uuid, which throws when there is none, and the other way round. */
  readonly chassisId: (uuid: string) => number
  readonly chassisUuid: (id: number | null) => string | null
}

/** What of a patch can be refused without knowing the node. */
export function checkPatch({ patch, version, resetInterfaces }: NodePatchRequest): void {
  const roots = patch.map((operation) => root(operation))
  const allowed: readonly string[] = PATCHABLE_NODE_FIELDS
  patch.forEach((operation, index) => {
    if (!allowed.includes(roots[index]!)) throw ironicErrors.notPatchable(operation.path, allowed)
  })
  refuseNewerFields(roots, version)
  if (version < 25 && patch.some(({ op, path }) => op === 'remove' && path === '/chassis_uuid'))
    throw ironicErrors.notAcceptable()
  for (const { op, path, value } of patch)
    if (op !== 'remove' && path === '/description') checkDescription(value, 'update')
  if (resetInterfaces) {
    if (version < SINCE.resetInterfaces) throw ironicErrors.notAcceptable()
    if (!patch.some(({ op, path }) => path === '/driver' && op !== 'remove')) throw ironicErrors.resetWithoutDriver()
  }
}

/**
 * What a patch changes of a node. A function of its arguments, so that the conductor can run it again on a newer record.
 *
 * @throws IronicError 400 or 409
 */
export function patchNode(node: NodeRecord, request: NodePatchRequest): NodePatch {
  refuseDuringTransition(node, request)
  const before: JsonObject = { chassis_uuid: request.chassisUuid(node.chassis_id) }
  for (const name of PATCHABLE_NODE_FIELDS) if (name !== 'chassis_uuid') before[name] = node[name]
  const applied = applyPatch(before, request.patch)
  for (const name of PATCHABLE_NODE_FIELDS) if (name !== 'driver' && !(name in applied)) applied[name] = null
  checkDocument(patchedNodeSchema, 'patch', applied)
  const { chassis_uuid: chassis, ...fields } = applied
  checkUuid('chassis_uuid', chassis)

  const after = normalised(fields) as NodePatch & { driver: string }
  after.chassis_id = chassis === null ? null : request.chassisId(String(chassis))
  fillInterfaces(node, after, request)
  const changed = (name: keyof NodePatch) => JSON.stringify(after[name]) !== JSON.stringify(node[name])
  checkFields(node, after, changed, request)
  checkStates(node, after, changed)
  checkAllocation(node, after)
  followUp(node, after, changed)
  return Object.fromEntries(Object.entries(after).filter(([name]) => changed(name as keyof NodePatch))) as NodePatch
}

const root = ({ path }: PatchOperation): string => path.split('/')[1]!

function refuseDuringTransition(node: NodeRecord, { ident, patch, version }: NodePatchRequest): void {
  if (node.target_provision_state === null) return
  const [only, ...more] = patch
  // Nova's way out: an instance can be taken off a node in maintenance, whatever is going on.
  if (node.maintenance && more.length === 0 && only?.op === 'remove' && only.path === '/instance_uuid') return
  if (!UPDATE_ALLOWED.includes(node.provision_state)) throw ironicErrors.transitionInProgress(ident)
  if (node.provision_state === 'inspecting' && version >= SINCE.inspectWaitState)
    throw new IronicError(409, `Cannot update node "${ident}" while it is in state "inspecting".`)
}

/** A removed interface is the driver's default again; `reset_interfaces` does that to all that the patch leaves alone. */
function fillInterfaces(
  node: NodeRecord,
  after: NodePatch,
  { patch, resetInterfaces, drivers }: NodePatchRequest,
): void {
  const named = patch.map(root)
  const driver = drivers.find(({ name }) => name === after.driver)
  for (const kind of DRIVER_INTERFACES) {
    const field = `${kind}_interface` as const
    const reset = resetInterfaces && !named.includes(field)
    // Unknown drivers are the conductor's to refuse.
    if (reset || after[field] === null) after[field] = driver?.interfaces[kind]?.[0] ?? node[field]
  }
}

function checkFields(
  node: NodeRecord,
  after: NodePatch,
  changed: (name: keyof NodePatch) => boolean,
  { ident, version }: NodePatchRequest,
): void {
  if (changed('name')) checkNodeName(after.name, version, ident)
  checkUuid('instance_uuid', after.instance_uuid)
  if (changed('protected_reason') && after.protected_reason !== null && !after.protected)
    throw new IronicError(400, 'The protected_reason field can only be set when protected is True')
  if (changed('retired_reason') && after.retired_reason !== null && !after.retired)
    throw new IronicError(400, 'The retired_reason field can only be set when retired is True')
  if (changed('instance_uuid') && node.instance_uuid !== null && after.instance_uuid !== null)
    throw new IronicError(409, `Node ${node.uuid} is associated with instance ${node.instance_uuid}.`)
}

/** An allocation goes with its instance, which a node that is in use keeps. */
function checkAllocation({ allocation_id, maintenance, provision_state, uuid }: NodeRecord, after: NodePatch): void {
  if (allocation_id === null || after.instance_uuid !== null || maintenance) return
  if (!RECONFIGURABLE.includes(provision_state))
    throw new IronicError(
      409,
      `Node ${uuid} with an allocation can not have instance_uuid removed unless it is in one of allowed (${RECONFIGURABLE.join(', ')}) states or in maintenance mode. Current state is '${provision_state}'.`,
    )
}

function checkStates(node: NodeRecord, after: NodePatch, changed: (name: keyof NodePatch) => boolean): void {
  const state = node.provision_state
  if (changed('protected') && after.protected && state !== 'active' && state !== 'rescue')
    throw ironicErrors.protectedInState(node.uuid, state)
  if (changed('retired') && after.retired && state === 'available')
    throw new IronicError(409, `Node ${node.uuid} can not be made retired in provision state 'available'`)
  if (RECONFIGURABLE.includes(state) || node.maintenance) return
  const reconfiguring = (['driver', 'resource_class', ...interfaceFields] as const).filter((name) => changed(name))
  if (reconfiguring.length > 0)
    throw new IronicError(
      409,
      `Node ${node.uuid} can not have ${reconfiguring.join(', ')} updated unless it is in one of allowed (${RECONFIGURABLE.join(', ')}) states or in maintenance mode.`,
    )
  if (changed('driver') && node.console_enabled)
    throw new IronicError(409, `Node ${node.uuid} can not have its driver updated while the console is enabled.`)
}

const interfaceFields = DRIVER_INTERFACES.map((kind) => `${kind}_interface` as const)

/** What a change brings with it. */
function followUp(node: NodeRecord, after: NodePatch, changed: (name: keyof NodePatch) => boolean): void {
  if (changed('maintenance') && !after.maintenance) {
    after.maintenance_reason = null
    after.fault = null
  }
  // Who chooses an interface does not get back the one that autodetect had taken the place of.
  if (changed('deploy_interface') && 'original_deploy_interface' in node.driver_internal_info) {
    const { original_deploy_interface: _, ...left } = node.driver_internal_info
    after.driver_internal_info = left
  }
  if (changed('protected') && !after.protected) after.protected_reason = null
  if (changed('retired') && !after.retired) after.retired_reason = null
  const displayName = after.instance_info?.display_name
  if (after.instance_name === null && node.instance_name === null && typeof displayName === 'string')
    after.instance_name = displayName
}
