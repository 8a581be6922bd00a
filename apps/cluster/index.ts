/** The operators around Ironic, and the Kubernetes API that they share. */
export { ALL_BEHAVIOURS } from './actors/all-behaviours.js'
export { runClusterBaremetalOperator } from './actors/cluster-baremetal-operator.js'
export { runClusterVersionOperator } from './actors/cluster-version-operator/cluster-version-operator.js'
export { BOOT_IMAGE_REFUSED } from './actors/machine-config-operator/boot-images/approved-image.js'
export { BOOT_IMAGE_RECORD } from './actors/machine-config-operator/boot-images/boot-image-record.js'
export { BOOT_IMAGE_UPDATES } from './actors/machine-config-operator/boot-images/boot-image-sources.js'
export { runMachineConfigOperator } from './actors/machine-config-operator/machine-config-operator.js'
export { runMachineApiOperator } from './actors/machine-api-operator/machine-api-operator.js'
export { runNodePrograms } from './actors/node-programs.js'
export { ERRORS } from './errors.js'
export { mirrorRuleOf, type RepositoryMirrors } from './site/container-registry.js'
export { type SiteRelease, makeRelease, type NewRelease } from './site/make-site-release.js'
export { metal3Programs, type Metal3Options } from './site/metal3-programs.js'
export { runPods } from './site/pods.js'
export { openSite } from './site/site.js'
export { openLiveCluster } from './rehearsal/live-cluster.js'
export { rehearse } from './rehearsal/rehearse.js'
export { type OwnRelease, readOwnRelease, withOwnReleases } from './rehearsal/own-releases.js'
export { readScenario } from './rehearsal/read-scenario.js'
export { readScenarioManifests } from './rehearsal/scenario-manifests.js'
export type { Scenario } from './rehearsal/scenario.js'
export { STORIES, storiesOf } from './rehearsal/stories/index.js'
export {
  compareStories,
  comparisonLines,
  comparisonOf,
  type StoryComparison,
  type StoryDifference,
} from './rehearsal/compare-stories.js'
export { isMilestone, type StoryEnd, type StoryLine, storyLines } from './rehearsal/story-line.js'
export type { OwnCluster } from './own-cluster/own-cluster.js'
export { isVersion } from './own-cluster/own-scenario.js'
export { mirrorsOf } from './own-cluster/own-mirrors.js'
export { ownClusterOf } from './own-cluster/own-cluster.js'
export { readClusterFolder } from './own-cluster/read-cluster-folder.js'
export { rehearseOwnCluster } from './own-cluster/rehearse-own-cluster.js'
export { reportLines } from './own-cluster/report-lines.js'
export type { UpgradeReport } from './own-cluster/upgrade-report.js'
