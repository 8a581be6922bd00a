import { describe, expect, test } from 'vitest'
import type { NodeRecord, PatchOperation } from '../../../base/wire/index.js'
import { checkPatch, patchNode, type NodePatchRequest } from './node-patch.js'
import { nodeSchemas } from './node-schemas.js'
import { aNode, someDrivers } from '../../../test/kit/ironic-records.js'

const request = (patch: PatchOperation[], more: Partial<NodePatchRequest> = {}): NodePatchRequest => ({
  ident: 'node-b',
  patch,
  version: 115,
  resetInterfaces: false,
  schemas: nodeSchemas(null),
  drivers: someDrivers,
  chassisId: () => 7,
  chassisUuid: () => null,
  parent: String,
  ...more,
})
const set = (path: string, value: unknown): PatchOperation => ({ op: 'add', path, value })
const patched = (fields: Partial<NodeRecord>, ...patch: PatchOperation[]) => patchNode(aNode(fields), request(patch))

test.each<[string, Partial<NodeRecord>, PatchOperation[], object]>([
  ['nothing', {}, [], {}],
  ['a value that is set already', { extra: { a: 1 } }, [set('/extra/a', 1)], {}],
  ['a name', {}, [set('/name', 'node-c')], { name: 'node-c' }],
  ['a removed name', {}, [{ op: 'remove', path: '/name' }], { name: null }],
  ['a member', { extra: { a: 1 } }, [set('/extra/b', 2)], { extra: { a: 1, b: 2 } }],
  ['a removed object', { extra: { a: 1 } }, [{ op: 'remove', path: '/extra' }], { extra: {} }],
  ['a word for true', {}, [set('/automated_clean', 'yes')], { automated_clean: true }],
  [
    'automated_clean back to the default',
    { automated_clean: false },
    [{ op: 'remove', path: '/automated_clean' }],
    { automated_clean: null },
  ],
  ['an interface', {}, [set('/deploy_interface', 'other')], { deploy_interface: 'other' }],
  [
    'an interface back to the default',
    { deploy_interface: 'other' },
    [{ op: 'remove', path: '/deploy_interface' }],
    { deploy_interface: 'fake' },
  ],
  [
    'a display name that becomes the instance name',
    {},
    [set('/instance_info/display_name', 'vm')],
    { instance_info: { display_name: 'vm' }, instance_name: 'vm' },
  ],
  [
    'maintenance off, with what belongs to it',
    { maintenance: true, maintenance_reason: 'broken', fault: 'power failure' },
    [set('/maintenance', false)],
    { maintenance: false, maintenance_reason: null, fault: null },
  ],
  [
    'retired, with its reason',
    {},
    [set('/retired', true), set('/retired_reason', 'old')],
    { retired: true, retired_reason: 'old' },
  ],
  [
    'no longer retired',
    { retired: true, retired_reason: 'old' },
    [set('/retired', false)],
    { retired: false, retired_reason: null },
  ],
  [
    'a failed deployment retried',
    { provision_state: 'deploy failed', target_provision_state: 'active' },
    [set('/extra/a', 1)],
    { extra: { a: 1 } },
  ],
])('a patch changes %s', (_, fields, patch, changes) => {
  expect(patchNode(aNode(fields), request(patch))).toEqual(changes)
})

test("reset_interfaces puts the new driver's defaults where the patch names nothing", () => {
  const patch = [set('/driver', 'redfish'), set('/deploy_interface', 'fake')]
  const changes = patchNode(aNode(), request(patch, { resetInterfaces: true }))
  expect(changes).toMatchObject({ driver: 'redfish', power_interface: 'redfish' })
  expect(changes).not.toHaveProperty('deploy_interface')
})

test.each<[string, Partial<NodeRecord>, PatchOperation[], number, string]>([
  [
    'a required field away',
    {},
    [{ op: 'remove', path: '/driver' }],
    400,
    "Schema error for patch: 'driver' is a required property",
  ],
  [
    'text for an object',
    {},
    [set('/extra', 'text')],
    400,
    "Schema error for patch: 'text' is not of type 'object', 'null'",
  ],
  ['no UUID', {}, [set('/instance_uuid', 'not-a-uuid')], 400, 'Expected UUID for instance_uuid: not-a-uuid'],
  ['a chassis by another name', {}, [set('/chassis_uuid', 'rack')], 400, 'Expected UUID for chassis_uuid: rack'],
  ['a reserved name', {}, [set('/name', 'detail')], 400, 'The word "detail" is reserved'],
  ['no name', {}, [set('/name', 'bad name!')], 400, "Node node-b: Cannot change name to invalid name 'bad name!'"],
  [
    'protected too early',
    {},
    [set('/protected', true)],
    409,
    "Node b0000000-0000-4000-8000-000000000001 can only be made protected in provision states 'active' or 'rescue', the current state is 'enroll'",
  ],
  [
    'another instance',
    { instance_uuid: 'd0000000-0000-4000-8000-000000000001' },
    [set('/instance_uuid', 'd0000000-0000-4000-8000-000000000002')],
    409,
    'is associated with instance',
  ],
  [
    'during a transition',
    { provision_state: 'deploying', target_provision_state: 'active' },
    [set('/extra/a', 1)],
    409,
    'Node node-b can not be updated while a state transition is in progress.',
  ],
  [
    'while inspecting',
    { provision_state: 'inspecting', target_provision_state: 'manageable' },
    [set('/extra/a', 1)],
    409,
    'inspecting',
  ],
  [
    'an interface of an active node',
    { provision_state: 'active' },
    [set('/deploy_interface', 'other')],
    409,
    'deploy_interface',
  ],
  ['retirement of an available node', { provision_state: 'available' }, [set('/retired', true)], 409, 'retired'],
])('a patch that would take or set %s is refused', (_, fields, patch, status, sentence) => {
  try {
    patched(fields, ...patch)
    expect.unreachable()
  } catch (error) {
    expect(error).toMatchObject({ status, message: expect.stringContaining(sentence) })
  }
})

test('during a transition in maintenance only the instance can be removed', () => {
  const deploying: Partial<NodeRecord> = {
    maintenance: true,
    provision_state: 'deploying',
    target_provision_state: 'active',
    instance_uuid: 'd0000000-0000-4000-8000-000000000001',
  }
  const remove: PatchOperation = { op: 'remove', path: '/instance_uuid' }
  expect(patched(deploying, remove)).toEqual({ instance_uuid: null })
  expect(() => patched(deploying, remove, set('/extra/a', 1))).toThrow('transition')
})

describe('before the node is looked up', () => {
  test.each<[string, NodePatchRequest, string]>([
    [
      "a field that is not the client's",
      request([set('/power_state', 'power on')]),
      'Cannot patch /power_state. Only the following can be updated: automated_clean,',
    ],
    ['a newer field', request([set('/shard', 's9')], { version: 80 }), 'Request not acceptable.'],
    [
      'a long description',
      request([set('/description', 'd'.repeat(4097))]),
      'Cannot update node with description exceeding 4096 characters',
    ],
    ['reset without a driver', request([set('/name', 'x')], { resetInterfaces: true }), 'reset_interfaces'],
  ])('a patch of %s is refused', (_, refused, sentence) => {
    expect(() => checkPatch(refused)).toThrow(sentence)
  })
})
