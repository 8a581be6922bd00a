/** The operators around Ironic, and the Kubernetes API that they share. */
export { type ActorDefinition, type ActorParts, runActor, type Notice } from './actors/actor.js'
export { type Behaviour, Behaviours } from './actors/behaviours.js'
export { ERRORS } from './errors.js'
export type { KubeClient, KubeStatus, ListOptions, ObjectName, WatchEvent } from './kube/kube-client.js'
export { apiVersionOf, type Kind, type KindEntry, type Kinds, KINDS } from './kube/kinds.js'
export type { Condition, KubeObject, NewObject, ObjectMeta, OwnerReference } from './kube/object.js'
export { isRefusal, KubeRefusal } from './kube/refusal.js'
