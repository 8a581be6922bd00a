import {
  DRIVER_INTERFACES,
  IronicError,
  ironicErrors,
  NODE_FIELDS,
  PATCHABLE_NODE_FIELDS,
  pythonRepr,
  SINCE,
  formatClientValue,
  type JsonObject,
  type Microversion,
  type NodeRecord,
  type ProvisionState,
  type PatchOperation,
} from '../../../base/wire/index.js'
import type { DriverDescription } from '../../conductor/core/conductor.js'
import type { NodeSchemas } from './node-schemas.js'
import { UPDATE_ALLOWED } from '../../conductor/core/transitions.js'
import type { NodePatch } from '../../store/store.js'
import { readFieldValues } from '../field-values.js'
import { applyPatch } from '../json-patch.js'
import { checkDescription, checkNodeName, checkUuid, refuseNewerFields } from './node-rules.js'
import { checkDocument, schemaProblem } from '../api-schema.js'

/** States in which interfaces may change outside maintenance, and a resource class that is set. */
const RECONFIGURABLE: readonly ProvisionState[] = ['enroll', 'inspecting', 'inspect wait', 'manageable', 'available']

export interface NodePatchRequest {
  /** Ident of the node as the client sent it. */
  readonly ident: string
  readonly patch: readonly PatchOperation[]
  readonly version: Microversion
  readonly resetInterfaces: boolean
  readonly drivers: readonly DriverDescription[]
  readonly schemas: NodeSchemas
  /** Id of the chassis with a uuid; throws when there is none. */
  readonly chassisId: (uuid: string) => number
  readonly chassisUuid: (id: number | null) => string | null
  /** UUID of a parent for a node of this owner; throws when it cannot be the parent. */
  readonly parent: (ident: unknown, owner: string | null) => string
}

/** Checks a patch as far as possible without the node. */
export function checkPatch({ patch, version, resetInterfaces, schemas }: NodePatchRequest): void {
  const roots = patch.map((operation) => root(operation))
  const allowed: readonly string[] = PATCHABLE_NODE_FIELDS
  patch.forEach((operation, index) => {
    if (!allowed.includes(roots[index]!)) throw ironicErrors.notPatchable(operation.path, allowed)
  })
  // Upstream lets clients remove newer fields, and change parts of them.
  refuseNewerFields(patch.filter(({ op, path }) => op !== 'remove' && path.lastIndexOf('/') === 0).map(root), version)
  if (version < 25 && patch.some(({ op, path }) => op === 'remove' && path === '/chassis_uuid'))
    throw ironicErrors.notAcceptable()
  if (resetInterfaces && valuesOf(patch, '/driver').length === 0) throw ironicErrors.resetWithoutDriver()
  for (const value of valuesOf(patch, '/description')) checkDescription(value, 'update')
  for (const value of valuesOf(patch, '/network_data')) {
    const problem = schemaProblem(schemas.networkData, value)
    // Upstream's sentence ends in a blank.
    if (problem) throw new IronicError(400, `Invalid network_data: ${problem.plain} `)
  }
}

/**
 * Changes that a patch makes to a node. A pure function, so that the conductor can run it again on a newer record.
 *
 * @throws IronicError 400 or 409
 */
export function patchNode(node: NodeRecord, request: NodePatchRequest): NodePatch {
  const [parent] = valuesOf(request.patch, '/parent_node')
  const parentUuid = parent === undefined ? undefined : request.parent(parent, node.owner)
  refuseDuringTransition(node, request)
  for (const name of valuesOf(request.patch, '/name')) checkNewName(name, request)
  const before: JsonObject = { chassis_uuid: request.chassisUuid(node.chassis_id) }
  for (const name of PATCHABLE_NODE_FIELDS) if (name !== 'chassis_uuid') before[name] = node[name]
  const applied = applyPatch(before, request.patch)
  if (parentUuid !== undefined) applied.parent_node = parentUuid
  for (const name of PATCHABLE_NODE_FIELDS) if (name !== 'driver' && !(name in applied)) applied[name] = null
  checkDocument(request.schemas.patched, 'patch', applied)
  const { chassis_uuid: chassis, ...fields } = applied
  checkUuid('chassis_uuid', chassis)

  const cleared = interfaceFields.filter((name) => fields[name] === null)
  const after = readFieldValues(fields, NODE_FIELDS) as NodePatch & { driver: string }
  // Ironic compares groups in small letters from here on, but not at creation.
  if (after.conductor_group) after.conductor_group = after.conductor_group.toLowerCase()
  after.chassis_id = chassis === null ? null : request.chassisId(formatClientValue(chassis))
  fillInterfaces(node, after, request)
  const changed = (name: keyof NodePatch) => JSON.stringify(after[name]) !== JSON.stringify(node[name])
  checkPatchedFields(node, after, changed, request)
  checkStates(node, after, (name) => changed(name) || (cleared as string[]).includes(name))
  checkAllocation(node, after)
  followUp(node, after, changed)
  return Object.fromEntries(Object.entries(after).filter(([name]) => changed(name as keyof NodePatch))) as NodePatch
}

const root = ({ path }: PatchOperation): string => path.split('/')[1]!

/** Values that a patch sets at exactly this path. */
const valuesOf = (patch: readonly PatchOperation[], path: string): unknown[] =>
  patch.filter((operation) => operation.path === path && operation.op !== 'remove').map(({ value }) => value)

/** @throws IronicError 400 for an invalid name, also for null: `remove` is how a name is removed */
function checkNewName(name: unknown, { ident, version }: NodePatchRequest): void {
  if (typeof name !== 'string') throw ironicErrors.invalidNodeName(shown(name), ident)
  checkNodeName(name, version, ident)
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : pythonRepr(value))

function refuseDuringTransition(node: NodeRecord, { ident, patch, version }: NodePatchRequest): void {
  if (node.target_provision_state === null) return
  const [only, ...more] = patch
  // Nova needs to remove the instance of a node in maintenance during any transition.
  if (node.maintenance && more.length === 0 && only?.op === 'remove' && only.path === '/instance_uuid') return
  if (!UPDATE_ALLOWED.includes(node.provision_state)) throw ironicErrors.transitionInProgress(ident)
  if (node.provision_state === 'inspecting' && version >= SINCE.inspectWaitState)
    throw new IronicError(409, `Cannot update node "${node.uuid}" while it is in state "inspecting".`)
}

/** Sets removed interfaces to the driver's defaults; with `reset_interfaces` also all that the patch does not name. */
function fillInterfaces(
  node: NodeRecord,
  after: NodePatch,
  { patch, resetInterfaces, drivers }: NodePatchRequest,
): void {
  const named = patch.map(root)
  const driver = drivers.find(({ name }) => name === after.driver)
  for (const kind of DRIVER_INTERFACES) {
    const field = `${kind}_interface` as const
    // A new driver resets every interface that the patch does not name.
    const reset = resetInterfaces && after.driver !== node.driver && !named.includes(field)
    // The conductor refuses unknown drivers.
    if (reset || after[field] === null) after[field] = driver?.interfaces[kind]?.[0] ?? node[field]
  }
}

function checkPatchedFields(
  node: NodeRecord,
  after: NodePatch,
  changed: (name: keyof NodePatch) => boolean,
  { ident }: NodePatchRequest,
): void {
  checkUuid('instance_uuid', after.instance_uuid)
  if (changed('driver') && node.console_enabled)
    throw new IronicError(
      409,
      `Node ${ident} can not update the driver while the console is enabled. Please stop the console first.`,
    )
  if (changed('protected_reason') && after.protected_reason && !after.protected && !changed('protected'))
    throw new IronicError(400, 'The protected_reason field can only be set when protected is True')
  if (changed('retired_reason') && after.retired_reason && !after.retired && !changed('retired'))
    throw new IronicError(400, 'The retired_reason field can only be set when retired is True')
  if (changed('instance_uuid') && node.instance_uuid !== null && after.instance_uuid !== null)
    throw new IronicError(409, `Node ${node.uuid} is associated with instance ${node.instance_uuid}.`)
}

/** Refuses to remove the instance, and with it the allocation, of a node that is in use. */
function checkAllocation({ allocation_id, maintenance, provision_state, uuid }: NodeRecord, after: NodePatch): void {
  if (allocation_id === null || after.instance_uuid !== null || maintenance) return
  if (!RECONFIGURABLE.includes(provision_state))
    throw new IronicError(
      409,
      `Node ${uuid} with an allocation can not have instance_uuid removed unless it is in one of allowed (${RECONFIGURABLE.join(', ')}) states or in maintenance mode. Current state is '${provision_state}'.`,
    )
}

function checkStates(node: NodeRecord, after: NodePatch, changed: (name: keyof NodePatch) => boolean): void {
  const { uuid, provision_state: state } = node
  const refused = (sentence: string) => new IronicError(409, `Node ${uuid} can not have ${sentence}`)
  if (changed('protected') && after.protected && state !== 'active' && state !== 'rescue')
    throw ironicErrors.protectedInState(uuid, state)
  if (changed('retired') && after.retired && state === 'available')
    throw refused(`'retired' set in provision state 'available', the current state is '${state}'`)
  if (RECONFIGURABLE.includes(state)) return
  const where = `updated unless it is in one of allowed (${RECONFIGURABLE.join(', ')}) states`
  const field = interfaceFields.find((name) => changed(name))
  if (field && !after.maintenance)
    throw refused(`${field} ${where} or in maintenance mode. Current state is '${state}'.`)
  // A scheduler may rely on the resource class, so maintenance does not allow a change.
  if (changed('resource_class') && node.resource_class)
    throw refused(`resource_class ${where}. Current state is '${state}'.`)
}

const interfaceFields = DRIVER_INTERFACES.map((kind) => `${kind}_interface` as const)

/** Changes other fields that follow from a change. */
function followUp(node: NodeRecord, after: NodePatch, changed: (name: keyof NodePatch) => boolean): void {
  if (changed('maintenance') && !after.maintenance) {
    after.maintenance_reason = null
    after.fault = null
  }
  // The client replaces the interface that `autodetect` chose, so the original is not restored later.
  if (changed('deploy_interface') && 'original_deploy_interface' in node.driver_internal_info) {
    const { original_deploy_interface: _, ...left } = node.driver_internal_info
    after.driver_internal_info = left
  }
  if (changed('protected') && !after.protected) after.protected_reason = null
  if (changed('retired') && !after.retired) after.retired_reason = null
  const displayName = after.instance_info?.display_name
  if (
    changed('instance_info') &&
    !after.instance_name &&
    !node.instance_name &&
    typeof displayName === 'string' &&
    displayName
  )
    after.instance_name = displayName
}
