import type { Clock } from '../../base/runtime/index.js'
import type { ApiNode } from '../../base/wire/index.js'
import {
  withCondition,
  type BareMetalHostStatus,
  type ProvisioningState,
  type Condition,
} from '../../base/kubernetes/index.js'
import type { ManagedHost } from './host-status.js'

type HostConditionValue = readonly [Condition['status'], string]

const YES = (reason: string): HostConditionValue => ['True', reason]
const NO = (reason: string): HostConditionValue => ['False', reason]

/** Reasons of states in which something is under way. */
const PROGRESS: Partial<Record<ProvisioningState, string>> = {
  inspecting: 'Inspecting',
  preparing: 'Preparing',
  provisioning: 'Provisioning',
  deprovisioning: 'Deprovisioning',
  deleting: 'Deleting',
  'powering off before delete': 'PoweringOffBeforeDelete',
}

const HEALTH: Readonly<Record<string, HostConditionValue>> = {
  OK: YES('Healthy'),
  Warning: NO('Warning'),
  Critical: NO('CriticalError'),
}

/** Conditions that follow from the state, without those of the power and the hardware. */
function verdicts({
  provisioning: { state },
  operationalStatus,
}: BareMetalHostStatus): Record<string, HostConditionValue> {
  const none = { AvailableForProvisioning: NO('NotAvailable'), Provisioned: NO('NotProvisioned') }
  const idle = { ...none, Ready: NO('NotProvisioned'), Progressing: NO('NotProgressing') }
  switch (state) {
    case '':
    case 'unmanaged':
      return { ...idle, Manageable: NO('NotManaged') }
    case 'registering': {
      const reason = operationalStatus === 'error' ? 'RegistrationFailed' : 'Registering'
      return { ...idle, Manageable: NO(reason), Progressing: YES('Registering') }
    }
    case 'available':
      return { ...idle, Manageable: YES('Manageable'), AvailableForProvisioning: YES('Available') }
    case 'provisioned':
    case 'externally provisioned':
      return { ...idle, Manageable: YES('Manageable'), Provisioned: YES('Provisioned'), Ready: YES('Provisioned') }
    default:
      return { ...idle, Manageable: YES('Manageable'), Progressing: YES(PROGRESS[state]!) }
  }
}

/** Further troubles, by `operationalStatus`. */
const TROUBLE: Readonly<Record<string, Record<string, HostConditionValue>>> = {
  error: { Ready: NO('Error') },
  servicing: { Ready: NO('Servicing') },
  detached: { Ready: NO('Detached'), Progressing: NO('Detached') },
}

/** States in which a failing power supply is not the host's trouble yet, or any more. */
const WITHOUT_POWER: ReadonlySet<string> = new Set(['', 'unmanaged', 'registering', 'deleting'])

/** Ready is the first, and the others follow by their names, as Cluster API's setter sorts them. */
export function sortConditions(conditions: readonly Condition[]): Condition[] {
  const rank = ({ type }: Condition): string => (type === 'Ready' ? '' : type)
  return [...conditions].sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
}

/**
 * Sets the conditions of a host (computeConditions of the controller); whether one changed.
 */
export function setConditions({ status, metadata }: ManagedHost, node: ApiNode | undefined, clock: Clock): boolean {
  const { provisioning, operationalStatus } = status
  const wanted = { ...verdicts(status), ...TROUBLE[operationalStatus] }
  const mayFail = !WITHOUT_POWER.has(provisioning.state) && operationalStatus !== 'detached'
  if (mayFail && node?.fault === 'power failure') wanted['Manageable'] = NO('PowerFailure')
  const health = node?.health ?? ''
  const isKnown = status.conditions?.some(({ type }) => type === 'Healthy')
  if (health !== '' || !isKnown) wanted['Healthy'] = HEALTH[health] ?? ['Unknown', 'Unknown']

  let conditions = status.conditions
  for (const [type, [verdict, reason]] of Object.entries(wanted))
    conditions = withCondition(
      conditions,
      { type, status: verdict, reason, message: '', observedGeneration: metadata.generation },
      clock,
    )
  const sorted = sortConditions(conditions!)
  const isChanged = JSON.stringify(sorted) !== JSON.stringify(status.conditions)
  status.conditions = sorted
  return isChanged
}
