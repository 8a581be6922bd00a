/** The operators around Ironic, and the Kubernetes API that they share. */
export { type ActorParts, type ActorNotice } from './actors/actor.js'
export { ALL_BEHAVIOURS } from './actors/all-behaviours.js'
export { AppliedHosts, type AppliedHost } from './actors/baremetal-operator/applied-hosts.js'
export { runBareMetalOperator } from './actors/baremetal-operator/baremetal-operator.js'
export { type Behaviour, Behaviours } from './actors/behaviours.js'
export { runClusterBaremetalOperator } from './actors/cluster-baremetal-operator.js'
export { runClusterVersionOperator } from './actors/cluster-version-operator/cluster-version-operator.js'
export {
  RECORD as BOOT_IMAGE_RECORD,
  REFUSED as BOOT_IMAGE_REFUSED,
} from './actors/machine-config-operator/boot-images/boot-image-controller.js'
export { UPDATES as BOOT_IMAGE_UPDATES } from './actors/machine-config-operator/boot-images/boot-image-sources.js'
export { runMachineConfigOperator } from './actors/machine-config-operator/machine-config-operator.js'
export { runMachineApiOperator } from './actors/machine-api-operator/machine-api-operator.js'
export { runNodePrograms } from './actors/node-programs.js'
export { ERRORS } from './errors.js'
export {
  checkObjectFile,
  type CheckedObjects,
  OBJECT_FILE,
  openObjectFile,
  repairObjectFile,
} from './kube/object-file.js'
export { serveKube } from './kube/http/kube-server.js'
export type { KubeClient } from './kube/kube-client.js'
export { apiVersionOf, type KubeKind, type KubeKinds } from './kube/kinds.js'
export { type Kube, openKube } from './kube/open-kube.js'
export type { RepositoryMirrors } from './site/container-registry.js'
export { type SiteRelease, makeRelease, type NewRelease } from './site/make-site-release.js'
export { metal3Programs, type Metal3Options } from './site/metal3-programs.js'
export { runPods } from './site/pods.js'
export { openSite } from './site/site.js'
export { rehearse } from './rehearsal/rehearse.js'
export { readOwnRelease, withOwnReleases } from './rehearsal/own-releases.js'
export { readScenario } from './rehearsal/read-scenario.js'
export type { Scenario } from './rehearsal/scenario.js'
export { STORIES } from './rehearsal/stories/index.js'
export { type StoryLine, storyLines } from './rehearsal/story-line.js'
