import type { Behaviour } from '../behaviours.js'

export const RESPECTS_MAX_UNAVAILABLE: Behaviour = {
  name: 'mco/respects-max-unavailable',
  story: 'one-node-at-a-time',
  says: 'all nodes of a pool reboot at once: the control plane loses its quorum, and workloads have nowhere to go',
}
export const HONOURS_PAUSE: Behaviour = {
  name: 'mco/honours-paused-pools',
  story: 'paused-pool',
  says: 'nodes of a paused pool reboot in the midst of what the administrator paused them for',
}
export const DRAINS_NODES: Behaviour = {
  name: 'mco/drains-nodes',
  story: 'one-node-at-a-time',
  says: 'a node reboots under its workloads, which end in the midst of their work',
}
export const DETECTS_DRIFT: Behaviour = {
  name: 'mco/detects-config-drift',
  story: 'config-drift',
  says: 'a file that is changed past the cluster stays unnoticed until an update overwrites it, or fails because of it',
}
export const RETRIES_PULLS: Behaviour = {
  name: 'mco/retries-pulls',
  story: 'registry-away',
  says: 'a registry that fails for a minute leaves the node on its old release for ever',
}
export const VALIDATES_AFTER_REBOOT: Behaviour = {
  name: 'mco/validates-after-reboot',
  story: 'full-boot-partition',
  says: 'a node that came back in its old system counts as updated, and keeps its old faults',
}
export const ENCAPSULATES_CONFIG: Behaviour = {
  name: 'mco/serves-the-node-image',
  story: 'base-image',
  says: 'a new machine stays the base image of its disk: it has no kubelet, and never joins the cluster',
}
export const NEGOTIATES_IGNITION: Behaviour = {
  name: 'mco/translates-ignition',
  story: 'pinned-machine-sets',
  says: 'a machine from an older boot image gets a config of a spec that it cannot read, and ends in its emergency shell',
}
export const WAITS_FOR_POOLS: Behaviour = {
  name: 'mco/waits-for-required-pools',
  story: 'failed-pull',
  says: 'the operator reports the release while the control plane still runs the old one: the upgrade completes too early',
}
export const UPDATES_BOOT_IMAGES: Behaviour = {
  name: 'mco/updates-boot-images',
  story: 'reprovision',
  says: 'new machines are installed from the image of the first release for ever: each scale-up pulls and boots twice',
}
export const WITHHOLDS_BOOT_IMAGES: Behaviour = {
  name: 'mco/withholds-boot-images',
  story: 'boot-image-withheld',
  says: 'a machine that is added during the upgrade is newer than the cluster that it joins',
}
export const REFUSES_OLDER_BOOT_IMAGES: Behaviour = {
  name: 'mco/refuses-older-boot-images',
  story: 'downgrade',
  says: 'new machines are installed from an image older than the first release: updates from it are untested',
}
export const KEEPS_PINNED: Behaviour = {
  name: 'mco/keeps-pinned-boot-images',
  story: 'pinned-machine-sets',
  says: 'machine sets that the administrator has pinned, or that install a QCOW2 image, get an image that their hosts may not boot',
}
export const NAMES_SKEW: Behaviour = {
  name: 'mco/names-boot-image-skew',
  story: 'skew',
  says: 'two sources of the boot image differ, and no condition shows which one a new machine comes from',
}
