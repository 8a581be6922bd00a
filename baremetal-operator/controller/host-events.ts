import { kubeTime, type ActorParts, type BareMetalHost, type HostErrorType } from '../../base/kubernetes/index.js'
import { defined } from '../../base/runtime/index.js'
import type { HostEvent } from '../provisioner/node-requests.js'

/** Reasons of events, and values of `error_type` in metrics, for failures: recordActionFailure of the controller. */
export const FAILURE_REASONS: Readonly<Record<HostErrorType, string>> = {
  'detach error': 'DetachError',
  'provisioned registration error': 'ProvisionedRegistrationError',
  'registration error': 'RegistrationError',
  'inspection error': 'InspectionError',
  'preparation error': 'PreparationError',
  'provisioning error': 'ProvisioningError',
  'power management error': 'PowerManagementError',
  'servicing error': 'ServicingError',
}

/** Components that publish events, by the kind of the object: NewEvent of apis/metal3.io/v1alpha1/baremetalhost_types.go, and others like it. */
const EVENT_SOURCES = {
  BareMetalHost: { component: 'metal3-baremetal-controller', reporter: 'metal3.io/baremetal-controller' },
  HostFirmwareComponents: {
    component: 'metal3-hostfirmwarecomponents-controller',
    reporter: 'metal3.io/hostfirmwarecomponents-controller',
  },
  HostFirmwareSettings: {
    component: 'metal3-hostfirmwaresettings-controller',
    reporter: 'metal3.io/hostfirmwaresettings-controller',
  },
} as const

/** An object that events are about. */
interface EventSubject {
  apiVersion: string
  kind: keyof typeof EVENT_SOURCES
  metadata: { name: string; namespace?: string; uid: string }
  spec?: { consumerRef?: BareMetalHost['spec']['consumerRef'] }
}

/** Component of client-go's recorder in BareMetal Operator, which writes its warnings. */
const RECORDER = 'baremetalhost-controller'

/** Writes events of an object; one that the API does not take is no failure, and is only logged. */
export async function publishEvents(
  parts: Pick<ActorParts, 'kube' | 'clock' | 'logger'>,
  subject: EventSubject,
  events: readonly HostEvent[],
): Promise<void> {
  for (const event of events)
    await (event.type === 'Warning' ? recordWarning(event, subject, parts) : writeEvent(event, subject, parts)).catch(
      (error: unknown) =>
        parts.logger('debug', `an event of ${subject.metadata.name} is lost: ${(error as Error).message}`),
    )
}

async function writeEvent(
  { reason, message }: HostEvent,
  { apiVersion, kind, metadata, spec }: EventSubject,
  { kube, clock }: Pick<ActorParts, 'kube' | 'clock'>,
): Promise<void> {
  const { name, namespace = '', uid } = metadata
  const { component, reporter } = EVENT_SOURCES[kind]
  const at = kubeTime(clock.now())
  await kube.create<'Event'>({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: '', generateName: `${reason}-`, namespace },
    involvedObject: { kind, namespace, name, uid, apiVersion },
    reason,
    message,
    source: { component },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
    type: 'Normal',
    reportingComponent: reporter,
    ...defined({ related: spec?.consumerRef }),
  })
}

/**
 * Writes a warning as client-go's recorder does (tools/record/event.go, events_cache.go): its name has the time, and one that
 * is said again counts.
 */
async function recordWarning(
  { reason, message }: HostEvent,
  { apiVersion, kind, metadata }: EventSubject,
  { kube, clock }: Pick<ActorParts, 'kube' | 'clock'>,
): Promise<void> {
  const { name, namespace = '', uid } = metadata
  const at = kubeTime(clock.now())
  const { items } = await kube.list('Event', { namespace })
  const earlier = items.find(
    ({ involvedObject, ...one }) => involvedObject.uid === uid && one.reason === reason && one.message === message,
  )
  if (earlier) {
    const change = { count: (earlier.count ?? 1) + 1, lastTimestamp: at }
    await kube.patch('Event', { name: earlier.metadata.name, namespace }, change)
    return
  }
  await kube.create<'Event'>({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.${(BigInt(Math.round(clock.now())) * 1_000_000n).toString(16)}`, namespace },
    involvedObject: { kind, namespace, name, uid, apiVersion },
    reason,
    message,
    source: { component: RECORDER },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
    type: 'Warning',
    reportingComponent: RECORDER,
  })
}
