import type { Clock } from '../../base/runtime/index.js'
import {
  kubeTime,
  type BareMetalHost,
  type BareMetalHostStatus,
  type HostErrorType,
  type ProvisioningState,
} from '../../base/kubernetes/index.js'

/** A host in the hands of its controller, with a status that is written when the pass says so. */
export type ManagedHost = BareMetalHost & { status: BareMetalHostStatus }

/** A host whose status has the members that the operator always writes. */
export const asManagedHost = (host: BareMetalHost): ManagedHost => ({
  ...host,
  // Go reads an absent spec as an empty one.
  spec: { ...NO_SPEC, ...(host.spec as BareMetalHost['spec'] | undefined) },
  status: {
    operationalStatus: '',
    goodCredentials: {},
    triedCredentials: {},
    errorMessage: '',
    poweredOn: false,
    errorCount: 0,
    provisioningFailCount: 0,
    ...host.status,
    provisioning: { ID: '', state: '', image: NO_IMAGE, ...host.status?.provisioning },
    operationHistory: { ...NEVER, ...host.status?.operationHistory },
  },
})

const NO_SPEC = { online: false }

/** How the operator writes that there is no image: Go leaves no structure out. */
export const NO_IMAGE = { url: '' }
const NOT_BEGUN = { start: null, end: null }
const NEVER = { register: NOT_BEGUN, inspect: NOT_BEGUN, provision: NOT_BEGUN, deprovision: NOT_BEGUN }

/** `NAMESPACE/NAME`. */
export const hostKeyOf = ({ metadata: { namespace = '', name } }: BareMetalHost): string => `${namespace}/${name}`

/** Takes the error away; false where there was none. */
export function clearError(
  status: BareMetalHostStatus,
  next: BareMetalHostStatus['operationalStatus'] = 'OK',
): boolean {
  const isChanged = status.operationalStatus !== next || status.errorType !== undefined || status.errorMessage !== ''
  status.operationalStatus = next
  delete status.errorType
  status.errorMessage = ''
  return isChanged
}

export function setError(status: BareMetalHostStatus, type: HostErrorType, message: string): void {
  Object.assign(status, { operationalStatus: 'error', errorType: type, errorMessage: message })
  status.errorCount++
}

type HostOperation = keyof NonNullable<BareMetalHostStatus['operationHistory']>

/** States whose times are kept, with their names in `operationHistory`. */
const OPERATIONS: Partial<Record<ProvisioningState, HostOperation>> = {
  registering: 'register',
  inspecting: 'inspect',
  provisioning: 'provision',
  deprovisioning: 'deprovision',
}

export function beginOperation(status: BareMetalHostStatus, state: ProvisioningState, clock: Clock): void {
  const operation = OPERATIONS[state]
  if (!operation) return
  const known = status.operationHistory?.[operation]
  if (known?.start && !known.end) return
  status.operationHistory = { ...status.operationHistory, [operation]: { start: kubeTime(clock.now()), end: null } }
}

/** The operation of a state that ended, and how long it took, in milliseconds; undefined if none did. */
export function endOperation(
  status: BareMetalHostStatus,
  state: ProvisioningState,
  clock: Clock,
): { operation: HostOperation; time: number } | undefined {
  const operation = OPERATIONS[state]
  const known = operation && status.operationHistory?.[operation]
  if (operation === undefined || !known?.start || known.end) return undefined
  const end = kubeTime(clock.now())
  status.operationHistory = { ...status.operationHistory, [operation]: { ...known, end } }
  return { operation, time: Date.parse(end) - Date.parse(known.start) }
}
