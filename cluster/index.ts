/** The operators around Ironic, and the Kubernetes API that they share. */
export { type ActorDefinition, type ActorParts, runActor, type Notice } from './actors/actor.js'
export { ALL_BEHAVIOURS } from './actors/all-behaviours.js'
export { AppliedHosts, type AppliedHostsParts, type HostReport } from './actors/baremetal-operator/applied-hosts.js'
export {
  type BareMetalOperatorParts,
  runBareMetalOperator,
  type RunningBareMetalOperator,
} from './actors/baremetal-operator/baremetal-operator.js'
export { BARE_METAL_OPERATOR_BEHAVIOURS } from './actors/baremetal-operator/behaviours.js'
export { type Behaviour, Behaviours } from './actors/behaviours.js'
export { runClusterBaremetalOperator } from './actors/cluster-baremetal-operator.js'
export { runClusterVersionOperator } from './actors/cluster-version-operator/cluster-version-operator.js'
export {
  RECORD as BOOT_IMAGE_RECORD,
  REFUSED as BOOT_IMAGE_REFUSED,
} from './actors/machine-config-operator/boot-images/boot-image-controller.js'
export {
  type BootImagePlace,
  UPDATES as BOOT_IMAGE_UPDATES,
} from './actors/machine-config-operator/boot-images/boot-image-sources.js'
export {
  type MachineConfigOperatorParts,
  runMachineConfigOperator,
} from './actors/machine-config-operator/machine-config-operator.js'
export { runMachineApiOperator } from './actors/machine-api-operator/machine-api-operator.js'
export { nodeNameOf } from './actors/kubelet.js'
export { type NodeProgramsParts, runNodePrograms } from './actors/node-programs.js'
export { ERRORS } from './errors.js'
export { type ObjectFile, openObjectFile } from './kube/object-file.js'
export { type KubeServerOptions, serveKube } from './kube/http/kube-server.js'
export type { KubeClient, KubeStatus, ListOptions, ObjectName, WatchEvent } from './kube/kube-client.js'
export { apiVersionOf, type Kind, type KindEntry, type Kinds, KINDS } from './kube/kinds.js'
export type { Condition, KubeObject, NewObject, ObjectMeta, OwnerReference } from './kube/object.js'
export { ObjectStore } from './kube/object-store.js'
export { type Kube, openKube } from './kube/open-kube.js'
export { isRefusal, KubeRefusal } from './kube/kube-refusal.js'
export type { RepositoryMirrors, SiteRegistry } from './site/container-registry.js'
export { type MadeRelease, makeRelease, type NewRelease, type ReleasedOperator } from './site/make-release.js'
export { metal3Programs, type Metal3Options } from './site/metal3-programs.js'
export type { Reachability, RefusedAccess, SiteNetwork } from './site/network.js'
export { isRolledOut, type PodPrograms, type PodsParts, type RunningContainer, runPods } from './site/pods.js'
export type { ContainerImage, ContainerPuller, Manifest, ManifestObject, ReleasePayload } from './site/releases.js'
export { openSite, type Site, type SiteOptions } from './site/site.js'
export type { WebServer } from './site/web-server.js'
export { rehearse, type RehearseOptions } from './rehearsal/rehearse.js'
export { readOwnRelease, withOwnReleases } from './rehearsal/own-releases.js'
export { readScenario } from './rehearsal/read-scenario.js'
export type { Scenario } from './rehearsal/scenario.js'
export { STORIES } from './rehearsal/stories/index.js'
export { type StoryEnd, type StoryLine, storyText } from './rehearsal/story-line.js'
