import type { Behaviour } from '../../../../base/kubernetes/index.js'

export const RESPECTS_MAX_UNAVAILABLE: Behaviour = {
  name: 'mco/respects-max-unavailable',
  stories: { today: 'one-node-at-a-time', document: 'one-node-at-a-time' },
  says: 'all nodes of a pool reboot at once: the control plane loses quorum, and workloads have nowhere to run',
  source: 'machine-config-operator 7ff337a pkg/controller/node/node_controller.go getAllCandidateMachines',
}
export const HONOURS_PAUSE: Behaviour = {
  name: 'mco/honours-paused-pools',
  stories: { today: 'paused-pool', document: 'paused-pool' },
  says: 'nodes of a paused pool reboot during the work that the administrator paused them for',
  source: 'machine-config-operator 7ff337a pkg/controller/node/node_controller.go syncMachineConfigPool',
}
export const DRAINS_NODES: Behaviour = {
  name: 'mco/drains-nodes',
  stories: { today: 'one-node-at-a-time', document: 'one-node-at-a-time' },
  says: 'a node reboots under its workloads and interrupts them',
  source: 'machine-config-operator 7ff337a pkg/controller/drain/drain_controller.go drainNode',
}
export const DETECTS_DRIFT: Behaviour = {
  name: 'mco/detects-config-drift',
  stories: { today: 'config-drift', document: 'config-drift' },
  says: 'a manually changed file goes unnoticed until an update overwrites it, or fails because of it',
  source: 'machine-config-operator 7ff337a pkg/daemon/on_disk_validation.go validateOnDiskState',
}
export const RETRIES_PULLS: Behaviour = {
  name: 'mco/retries-pulls',
  stories: { today: 'registry-away', document: 'registry-away' },
  says: 'a registry failure of a minute leaves the node on its old release forever',
  source: 'machine-config-operator 7ff337a pkg/daemon/update.go updateLayeredOS',
}
export const VALIDATES_AFTER_REBOOT: Behaviour = {
  name: 'mco/validates-after-reboot',
  stories: { today: 'full-boot-partition', document: 'full-boot-partition' },
  says: 'a node that booted its old system again counts as updated and keeps its old bugs',
  source: 'machine-config-operator 7ff337a pkg/daemon/daemon.go validateOnDiskStateImpl',
}
export const ENCAPSULATES_CONFIG: Behaviour = {
  name: 'mco/serves-the-node-image',
  stories: { today: 'base-image', document: 'base-image' },
  says: 'a new machine keeps running the base image: it has no kubelet and never joins the cluster',
  source: 'machine-config-operator 7ff337a pkg/server/server.go MachineConfigEncapsulatedPath',
}
export const NEGOTIATES_IGNITION: Behaviour = {
  name: 'mco/translates-ignition',
  stories: { today: 'legacy-cluster', document: 'pinned-machine-sets' },
  says: 'a machine with an older boot image gets a config version that it cannot read, and ends in the emergency shell',
  source: 'machine-config-operator 7ff337a pkg/server/api.go detectSpecVersionFromAcceptHeader',
}
export const WAITS_FOR_POOLS: Behaviour = {
  name: 'mco/waits-for-required-pools',
  stories: { today: 'failed-pull', document: 'failed-pull' },
  says: 'the operator reports the release while the control plane still runs the old one: the upgrade completes too early',
  source: 'machine-config-operator 7ff337a pkg/operator/sync.go syncRequiredMachineConfigPools',
}
export const UPDATES_BOOT_IMAGES: Behaviour = {
  name: 'mco/updates-boot-images',
  stories: { document: 'reprovision' },
  says: 'new machines are always installed from the image of the first release: each scale-up pulls and boots twice',
  source: 'design document 001',
  document: '001',
}
export const WITHHOLDS_BOOT_IMAGES: Behaviour = {
  name: 'mco/withholds-boot-images',
  stories: { document: 'boot-image-withheld' },
  says: 'a machine added during the upgrade is newer than the cluster that it joins',
  source: 'design document 001',
  document: '001',
}
export const REFUSES_OLDER_BOOT_IMAGES: Behaviour = {
  name: 'mco/refuses-older-boot-images',
  stories: { document: 'downgrade' },
  says: 'new machines are installed from an image older than the first release: updates from it are untested',
  source: 'design document 001',
  document: '001',
}
export const KEEPS_PINNED: Behaviour = {
  name: 'mco/keeps-pinned-boot-images',
  stories: { document: 'pinned-machine-sets' },
  says: 'pinned machine sets, and those that install a QCOW2 image, get an image that their hosts may not boot',
  source: 'design document 000',
  document: '000',
}
export const NAMES_SKEW: Behaviour = {
  name: 'mco/names-boot-image-skew',
  stories: { document: 'skew' },
  says: 'two sources of the boot image differ, and no condition shows which one new machines use',
  source: 'design document 004',
  document: '004',
}
export const STREAMS_BY_POOL: Behaviour = {
  name: 'mco/runs-the-stream-of-the-pool',
  stories: { today: 'pool-stream' },
  says: 'all nodes run the default stream: no pool can go to RHEL 10 before the others',
  source: 'machine-config-operator 7ff337a pkg/controller/common/helpers.go GetEffectiveOSImageStreamName',
}
export const KEEPS_INSTALLED_STREAM: Behaviour = {
  name: 'mco/keeps-the-installed-stream',
  stories: { today: 'stream-of-an-upgraded-cluster' },
  says: 'the upgrade to a release whose default is RHEL 10 changes the operating system of every node',
  source: 'machine-config-operator 7ff337a pkg/osimagestream/streams.go GetBuiltinDefaultStreamName',
}
export const REFUSES_RUNC: Behaviour = {
  name: 'mco/refuses-runc-on-rhel-10',
  stories: { today: 'runc' },
  says: 'nodes boot RHEL 10, which has no runc: none of their containers starts',
  source:
    'machine-config-operator 7ff337a pkg/controller/render/render_controller.go validateNoRuncOnRHEL10FromOSImageStream',
}
export const SKIPS_BARE_METAL: Behaviour = {
  name: 'mco/skips-bare-metal',
  stories: { today: 'pinned-machine-sets' },
  says: 'machine sets that name an image of their own get that of the release, which their hosts may not boot',
  source: 'machine-config-operator 7ff337a pkg/controller/bootimage/platform_helpers.go checkMachineSet',
  since: '4.16',
}
export const ENFORCES_SKEW: Behaviour = {
  name: 'mco/enforces-boot-image-skew',
  stories: { today: 'legacy-cluster' },
  says: 'a cluster goes on to releases whose nodes cannot be installed from its boot images any more',
  source:
    'machine-config-operator 7ff337a pkg/operator/sync.go syncBootImageSkewEnforcementStatus, status.go checkBootImageSkewUpgradeableGuard',
  since: '4.22',
}
export const REFUSES_MANAGED_IMAGES: Behaviour = {
  name: 'mco/refuses-managed-boot-images',
  stories: { today: 'managed-boot-images' },
  says: 'an administrator believes that the boot images of the cluster are managed, and nothing manages them',
  source:
    'machine-config-operator 7ff337a manifests/machineconfigcontroller/update-bootimages-validatingadmissionpolicy.yaml',
  since: '4.16',
}
export const UPDATES_CLOUD_IMAGES: Behaviour = {
  name: 'mco/updates-images-on-clouds',
  stories: { today: 'cloud-boot-images' },
  says: 'new machines are always made from the image of the first release: each scale-up pulls and boots twice',
  source: 'machine-config-operator 7ff337a pkg/controller/bootimage/ms_helpers.go syncMAPIMachineSets',
  since: '4.16',
}
export const HONOURS_MANAGERS: Behaviour = {
  name: 'mco/honours-managed-boot-images',
  stories: { today: 'cloud-opt-out' },
  says: 'machine sets that the administrator has left out get the image of the release',
  source:
    'machine-config-operator 7ff337a pkg/controller/bootimage/helpers.go getMachineResourceSelectorFromMachineManagers',
  since: '4.16',
}
export const LEAVES_UNKNOWN_IMAGES: Behaviour = {
  name: 'mco/leaves-unknown-images',
  stories: { today: 'cloud-own-image' },
  says: 'an image of the user is replaced: new machines lack what it was made for',
  source: 'machine-config-operator 7ff337a pkg/controller/bootimage/platform_helpers.go reconcileGCPProviderSpec',
  since: '4.16',
}
export const WAITS_FOR_STABILITY: Behaviour = {
  name: 'mco/waits-for-a-complete-upgrade',
  stories: { today: 'cloud-boot-images' },
  says: 'a machine that is added in mid-upgrade is made from an image that is newer than the cluster that it joins',
  source: 'machine-config-operator 7ff337a pkg/controller/bootimage/helpers.go isClusterStable',
  since: '4.20',
}
export const WAITS_FOR_STAMPS: Behaviour = {
  name: 'mco/waits-for-its-stamps',
  stories: { today: 'cloud-stamps' },
  says: 'machine sets get the image of a release that no node runs yet: new machines may not join',
  source: 'machine-config-operator db84d83 pkg/controller/bootimage/ms_helpers.go syncMAPIMachineSet',
  since: '4.16',
  until: '4.21',
}
export const STOPS_HOT_LOOPS: Behaviour = {
  name: 'mco/stops-hot-loops',
  stories: { today: 'cloud-hot-loop' },
  says: 'the operator and another program change a machine set by turns for ever, and no condition says so',
  source: 'machine-config-operator 7ff337a pkg/controller/bootimage/ms_helpers.go checkMAPIMachineSetHotLoop',
  since: '4.17',
}
export const SERVES_FROM_NODES: Behaviour = {
  name: 'mco/serves-the-release-from-nodes',
  stories: { today: 'internal-release' },
  says: 'a cluster without a registry has none once it is installed: no node can be added, and no pod finds its image',
  source:
    'machine-config-operator 7ff337a pkg/controller/internalreleaseimage/internalreleaseimage_renderer.go RenderAndSetIgnition, templates/master/units/iri-registry.service.yaml',
  since: '4.22',
}
export const REPORTS_INTERNAL_RELEASE: Behaviour = {
  name: 'mco/reports-the-internal-release',
  stories: { today: 'internal-registries-away' },
  says: 'a node that no longer serves the release is noticed when the last one is gone too',
  source:
    'machine-config-operator 7ff337a pkg/controller/internalreleaseimage/aggregation.go aggregateMCNIRIStatus, pkg/daemon/internalreleaseimage/internalreleaseimage_manager.go refreshMachineConfigNodeStatus',
  since: '4.22',
}
export const GUARDS_INTERNAL_RELEASE: Behaviour = {
  name: 'mco/guards-the-internal-release',
  stories: { today: 'internal-release' },
  says: 'the release image that the cluster runs is deleted with the only registry that has it',
  source:
    'machine-config-operator 7ff337a manifests/machineconfigcontroller/internalreleaseimage-deletion-guard-validatingadmissionpolicy.yaml',
  since: '4.22',
}
export const KEEPS_REGISTRY_STAMP: Behaviour = {
  name: 'mco/keeps-the-stamp-of-the-registry',
  stories: { today: 'registry-of-your-own' },
  says: 'the MachineConfigs of the registry follow the operator, and the upgrade goes on without the administrator',
  source:
    'machine-config-operator 7ff337a pkg/controller/internalreleaseimage/internalreleaseimage_controller.go syncInternalReleaseImage, pkg/controller/render/render_controller.go generateRenderedMachineConfig',
  since: '4.22',
}
export const STOPS_REGISTRY: Behaviour = {
  name: 'mco/stops-the-internal-registry',
  stories: { today: 'registry-of-your-own' },
  says: 'nodes go on serving a release that the cluster no longer runs',
  source:
    'machine-config-operator 7ff337a pkg/controller/internalreleaseimage/internalreleaseimage_controller.go disableAndRemoveFinalizer',
  since: '4.22',
}
