import type { KubeJson } from '../kube-json.js'

/** How a list or an object is merged: as one, as a set, as entries of a map, or item by item with these keys. */
export type MergeRule = 'atomic' | 'set' | 'map' | Readonly<Record<string, KubeJson | undefined>>

const byName = { name: undefined }
const byType = { type: undefined }

/** Members of `metadata`. */
export const METADATA_MERGE_RULES: Readonly<Record<string, MergeRule>> = {
  labels: 'map',
  annotations: 'map',
  finalizers: 'set',
  ownerReferences: { uid: undefined },
}

/** Rules of a pod's containers. @param list `spec.template.spec.containers` */
const containerRules = (list: string): Record<string, MergeRule> => ({
  [list]: byName,
  [`${list}[].env`]: byName,
  [`${list}[].ports`]: { containerPort: undefined, protocol: 'TCP' },
  [`${list}[].volumeMounts`]: { mountPath: undefined },
  [`${list}[].volumeDevices`]: { devicePath: undefined },
})

const POD = 'spec.template.spec'

/**
 * Rules of the kinds of Kubernetes itself by their places: x-kubernetes-list-type and x-kubernetes-map-type of its OpenAPI
 * (k8s.io/api 0.33). Lists without one are owned as one.
 */
export const CORE_MERGE_RULES: Readonly<Record<string, Readonly<Record<string, MergeRule>>>> = {
  ConfigMap: { data: 'map', binaryData: 'map' },
  Deployment: {
    'spec.selector': 'atomic',
    'spec.template.metadata.labels': 'map',
    'spec.template.metadata.annotations': 'map',
    [`${POD}.nodeSelector`]: 'atomic',
    [`${POD}.imagePullSecrets`]: byName,
    [`${POD}.volumes`]: byName,
    ...containerRules(`${POD}.initContainers`),
    ...containerRules(`${POD}.containers`),
    'status.conditions': byType,
  },
  Event: { involvedObject: 'atomic', related: 'atomic' },
  Namespace: { 'status.conditions': byType },
  Node: {
    'status.conditions': byType,
    'status.addresses': byType,
    'status.capacity': 'map',
    'status.allocatable': 'map',
  },
  Secret: { data: 'map', stringData: 'map' },
  ValidatingWebhookConfiguration: { webhooks: byName },
}
