import { expect, test } from 'vitest'
import { VirtualClock } from '../../base/runtime/index.js'
import type { ApiNode } from '../../base/wire/index.js'
import { setConditions } from './host-conditions.js'
import { asManagedHost, type ManagedHost } from './host-status.js'

type Status = ManagedHost['status']

const hostIn = (state: string, operationalStatus: Status['operationalStatus'] = 'OK'): ManagedHost =>
  asManagedHost({
    apiVersion: 'metal3.io/v1alpha1',
    kind: 'BareMetalHost',
    metadata: { name: 'one', generation: 3 } as never,
    spec: { online: true },
    status: { operationalStatus, provisioning: { ID: '1', state } } as never,
  })

/** Conditions as `TYPE=STATUS/REASON`, in their order. */
function conditionsOf(host: ManagedHost, node: Partial<ApiNode> = {}): string[] {
  setConditions(host, node as ApiNode, new VirtualClock())
  return host.status.conditions!.map(({ type, status, reason }) => `${type}=${status}/${reason}`)
}

const WAITING = 'AvailableForProvisioning=False/NotAvailable'
const UNKNOWN = 'Healthy=Unknown/Unknown'
const BARE = 'Provisioned=False/NotProvisioned'
const NOT_READY = 'Ready=False/NotProvisioned'
const MANAGED = 'Manageable=True/Manageable'
const STILL = 'Progressing=False/NotProgressing'

/** computeConditions of the controller 02aa505, row by row. */
test.each<[string, Status['operationalStatus'], Partial<ApiNode>, string[]]>([
  ['', '', {}, [NOT_READY, WAITING, UNKNOWN, 'Manageable=False/NotManaged', STILL, BARE]],
  ['unmanaged', 'discovered', {}, [NOT_READY, WAITING, UNKNOWN, 'Manageable=False/NotManaged', STILL, BARE]],
  [
    'registering',
    'OK',
    {},
    [NOT_READY, WAITING, UNKNOWN, 'Manageable=False/Registering', 'Progressing=True/Registering', BARE],
  ],
  [
    'registering',
    'error',
    { fault: 'power failure' },
    [
      'Ready=False/Error',
      WAITING,
      UNKNOWN,
      'Manageable=False/RegistrationFailed',
      'Progressing=True/Registering',
      BARE,
    ],
  ],
  ['inspecting', 'OK', {}, [NOT_READY, WAITING, UNKNOWN, MANAGED, 'Progressing=True/Inspecting', BARE]],
  ['preparing', 'OK', {}, [NOT_READY, WAITING, UNKNOWN, MANAGED, 'Progressing=True/Preparing', BARE]],
  ['available', 'OK', {}, [NOT_READY, 'AvailableForProvisioning=True/Available', UNKNOWN, MANAGED, STILL, BARE]],
  ['provisioning', 'OK', {}, [NOT_READY, WAITING, UNKNOWN, MANAGED, 'Progressing=True/Provisioning', BARE]],
  [
    'provisioned',
    'OK',
    { health: 'OK' },
    ['Ready=True/Provisioned', WAITING, 'Healthy=True/Healthy', MANAGED, STILL, 'Provisioned=True/Provisioned'],
  ],
  [
    'externally provisioned',
    'OK',
    { health: 'Warning' },
    ['Ready=True/Provisioned', WAITING, 'Healthy=False/Warning', MANAGED, STILL, 'Provisioned=True/Provisioned'],
  ],
  [
    'provisioned',
    'servicing',
    { health: 'Critical' },
    ['Ready=False/Servicing', WAITING, 'Healthy=False/CriticalError', MANAGED, STILL, 'Provisioned=True/Provisioned'],
  ],
  [
    'provisioned',
    'error',
    { fault: 'power failure' },
    ['Ready=False/Error', WAITING, UNKNOWN, 'Manageable=False/PowerFailure', STILL, 'Provisioned=True/Provisioned'],
  ],
  [
    'provisioned',
    'detached',
    { fault: 'power failure', health: 'odd' as never },
    ['Ready=False/Detached', WAITING, UNKNOWN, MANAGED, 'Progressing=False/Detached', 'Provisioned=True/Provisioned'],
  ],
  ['deprovisioning', 'OK', {}, [NOT_READY, WAITING, UNKNOWN, MANAGED, 'Progressing=True/Deprovisioning', BARE]],
  [
    'powering off before delete',
    'OK',
    {},
    [NOT_READY, WAITING, UNKNOWN, MANAGED, 'Progressing=True/PoweringOffBeforeDelete', BARE],
  ],
  [
    'deleting',
    'OK',
    { fault: 'power failure' },
    [NOT_READY, WAITING, UNKNOWN, MANAGED, 'Progressing=True/Deleting', BARE],
  ],
])('a host in %j, which is %j, on a node of %j', (state, operationalStatus, node, wanted) => {
  const sorted = (lines: readonly string[]) => [lines[0], ...lines.slice(1).sort()]
  expect(conditionsOf(hostIn(state, operationalStatus), node)).toEqual(sorted(wanted))
})

test('the health that a node once had stays until Ironic knows another one', () => {
  const host = hostIn('available')
  expect(conditionsOf(host, { health: 'Warning' })).toContain('Healthy=False/Warning')
  expect(conditionsOf(host, {})).toContain('Healthy=False/Warning')
  expect(host.status.conditions).toContainEqual(expect.objectContaining({ type: 'Healthy', observedGeneration: 3 }))
  expect(setConditions(host, undefined, new VirtualClock())).toBe(false)
})
