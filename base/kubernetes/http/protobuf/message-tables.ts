/**
 * The messages of client-go's types that controllers send: numbers and names of the fields in generated.proto of
 * k8s.io/api and k8s.io/apimachinery 0.36.3, and from types.go beside them what Go leaves out of JSON.
 */
export interface ProtobufField {
  /** Its name in JSON. */
  name: string
  type: ScalarType | ProtobufMessage
  /**
   * `filled` is left out of JSON when it is empty or zero (omitempty), `always` stands in it as such, `pointer` as soon as
   * the client has set it: a holderIdentity of "" is a released lease.
   */
  presence: 'filled' | 'always' | 'pointer' | 'list' | 'map'
}

type ScalarType = 'text' | 'integer' | 'flag' | 'bytes' | 'time' | 'microTime' | 'quantity'

export type ProtobufMessage = Readonly<Record<number, ProtobufField>>

type ProtobufType = ProtobufField['type']

const filled = (name: string, type: ProtobufType = 'text'): ProtobufField => ({ name, type, presence: 'filled' })
const always = (name: string, type: ProtobufType = 'text'): ProtobufField => ({ name, type, presence: 'always' })
const pointer = (name: string, type: ProtobufType): ProtobufField => ({ name, type, presence: 'pointer' })
const list = (name: string, type: ProtobufType = 'text'): ProtobufField => ({ name, type, presence: 'list' })
const map = (name: string, type: ProtobufType = 'text'): ProtobufField => ({ name, type, presence: 'map' })

const OWNER_REFERENCE: ProtobufMessage = {
  1: always('kind'),
  3: always('name'),
  4: always('uid'),
  5: always('apiVersion'),
  6: pointer('controller', 'flag'),
  7: pointer('blockOwnerDeletion', 'flag'),
}

/** Without managedFields: the API has its own. */
const METADATA: ProtobufMessage = {
  1: filled('name'),
  2: filled('generateName'),
  3: filled('namespace'),
  4: filled('selfLink'),
  5: filled('uid'),
  6: filled('resourceVersion'),
  7: filled('generation', 'integer'),
  8: filled('creationTimestamp', 'time'),
  9: pointer('deletionTimestamp', 'time'),
  10: pointer('deletionGracePeriodSeconds', 'integer'),
  11: map('labels'),
  12: map('annotations'),
  13: list('ownerReferences', OWNER_REFERENCE),
  14: list('finalizers'),
}

const OBJECT_REFERENCE: ProtobufMessage = {
  1: filled('kind'),
  2: filled('namespace'),
  3: filled('name'),
  4: filled('uid'),
  5: filled('apiVersion'),
  6: filled('resourceVersion'),
  7: filled('fieldPath'),
}

const EVENT_SOURCE: ProtobufMessage = {
  1: filled('component'),
  2: filled('host'),
}

const EVENT_SERIES: ProtobufMessage = {
  1: filled('count', 'integer'),
  2: filled('lastObservedTime', 'microTime'),
}

const CORE_EVENT: ProtobufMessage = {
  1: always('metadata', METADATA),
  2: always('involvedObject', OBJECT_REFERENCE),
  3: filled('reason'),
  4: filled('message'),
  5: always('source', EVENT_SOURCE),
  6: always('firstTimestamp', 'time'),
  7: always('lastTimestamp', 'time'),
  8: filled('count', 'integer'),
  9: filled('type'),
  10: always('eventTime', 'microTime'),
  11: pointer('series', EVENT_SERIES),
  12: filled('action'),
  13: pointer('related', OBJECT_REFERENCE),
  14: always('reportingComponent'),
  15: always('reportingInstance'),
}

const NEW_EVENT: ProtobufMessage = {
  1: always('metadata', METADATA),
  2: always('eventTime', 'microTime'),
  3: pointer('series', EVENT_SERIES),
  4: filled('reportingController'),
  5: filled('reportingInstance'),
  6: filled('action'),
  7: filled('reason'),
  8: always('regarding', OBJECT_REFERENCE),
  9: pointer('related', OBJECT_REFERENCE),
  10: filled('note'),
  11: filled('type'),
  12: always('deprecatedSource', EVENT_SOURCE),
  13: always('deprecatedFirstTimestamp', 'time'),
  14: always('deprecatedLastTimestamp', 'time'),
  15: filled('deprecatedCount', 'integer'),
}

const LEASE_SPEC: ProtobufMessage = {
  1: pointer('holderIdentity', 'text'),
  2: pointer('leaseDurationSeconds', 'integer'),
  3: pointer('acquireTime', 'microTime'),
  4: pointer('renewTime', 'microTime'),
  5: pointer('leaseTransitions', 'integer'),
  6: pointer('strategy', 'text'),
  7: pointer('preferredHolder', 'text'),
}

const NAMESPACE_CONDITION: ProtobufMessage = {
  1: always('type'),
  2: always('status'),
  4: filled('lastTransitionTime', 'time'),
  5: filled('reason'),
  6: filled('message'),
}

const TAINT: ProtobufMessage = {
  1: always('key'),
  2: filled('value'),
  3: always('effect'),
  4: pointer('timeAdded', 'time'),
}

const NODE_SPEC: ProtobufMessage = {
  1: filled('podCIDR'),
  3: filled('providerID'),
  4: filled('unschedulable', 'flag'),
  5: list('taints', TAINT),
  7: list('podCIDRs'),
}

const NODE_CONDITION: ProtobufMessage = {
  1: always('type'),
  2: always('status'),
  3: always('lastHeartbeatTime', 'time'),
  4: always('lastTransitionTime', 'time'),
  5: filled('reason'),
  6: filled('message'),
}

const NODE_INFO: ProtobufMessage = {
  1: always('machineID'),
  2: always('systemUUID'),
  3: always('bootID'),
  4: always('kernelVersion'),
  5: always('osImage'),
  6: always('containerRuntimeVersion'),
  7: always('kubeletVersion'),
  8: always('kubeProxyVersion'),
  9: always('operatingSystem'),
  10: always('architecture'),
}

const NODE_STATUS: ProtobufMessage = {
  1: map('capacity', 'quantity'),
  2: map('allocatable', 'quantity'),
  3: filled('phase'),
  4: list('conditions', NODE_CONDITION),
  5: list('addresses', { 1: always('type'), 2: always('address') }),
  6: always('daemonEndpoints', { 1: always('kubeletEndpoint', { 1: always('Port', 'integer') }) }),
  7: always('nodeInfo', NODE_INFO),
  8: list('images', { 1: list('names'), 2: filled('sizeBytes', 'integer') }),
}

/** Options of a deletion, in its body. */
const DELETE_OPTIONS: ProtobufMessage = {
  1: pointer('gracePeriodSeconds', 'integer'),
  2: pointer('preconditions', { 1: pointer('uid', 'text'), 2: pointer('resourceVersion', 'text') }),
  3: pointer('orphanDependents', 'flag'),
  4: pointer('propagationPolicy', 'text'),
  5: list('dryRun'),
}

/** Messages by `APIVERSION/KIND`; of the others no client sends protobuf, or they are many and no controller writes them. */
export const PROTOBUF_MESSAGES: Readonly<Record<string, ProtobufMessage>> = {
  'v1/ConfigMap': {
    1: always('metadata', METADATA),
    2: map('data'),
    3: map('binaryData', 'bytes'),
    4: pointer('immutable', 'flag'),
  },
  'v1/DeleteOptions': DELETE_OPTIONS,
  'v1/Event': CORE_EVENT,
  'v1/Namespace': {
    1: always('metadata', METADATA),
    2: always('spec', { 1: list('finalizers') }),
    3: always('status', { 1: filled('phase'), 2: list('conditions', NAMESPACE_CONDITION) }),
  },
  'v1/Node': {
    1: always('metadata', METADATA),
    2: always('spec', NODE_SPEC),
    3: always('status', NODE_STATUS),
  },
  'v1/Secret': {
    1: always('metadata', METADATA),
    2: map('data', 'bytes'),
    3: filled('type'),
    4: map('stringData'),
    5: pointer('immutable', 'flag'),
  },
  'coordination.k8s.io/v1/Lease': {
    1: always('metadata', METADATA),
    2: always('spec', LEASE_SPEC),
  },
  'events.k8s.io/v1/Event': NEW_EVENT,
}

const TYPE_META: ProtobufMessage = {
  1: filled('apiVersion'),
  2: filled('kind'),
}

/** Fields of the envelope that follows the four magic bytes (runtime.Unknown): the type of the object, and the object. */
export const ENVELOPE: ProtobufMessage = { 1: always('typeMeta', TYPE_META) }
export const RAW = 2
