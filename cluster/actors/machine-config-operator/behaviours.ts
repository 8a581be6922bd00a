import type { Behaviour } from '../behaviours.js'

export const RESPECTS_MAX_UNAVAILABLE: Behaviour = {
  name: 'mco/respects-max-unavailable',
  says: 'All nodes of a pool reboot at the same time: the control plane loses its quorum, and workloads have nowhere to go.',
}
export const HONOURS_PAUSE: Behaviour = {
  name: 'mco/honours-paused-pools',
  says: 'Nodes of a paused pool reboot in the midst of what the administrator paused them for.',
}
export const DRAINS_NODES: Behaviour = {
  name: 'mco/drains-nodes',
  says: 'A node reboots under its workloads: they end in the midst of their work, and are not started elsewhere.',
}
export const DETECTS_DRIFT: Behaviour = {
  name: 'mco/detects-config-drift',
  says: 'A file that is changed past the cluster stays unnoticed until an update overwrites it, or fails because of it.',
}
export const RETRIES_PULLS: Behaviour = {
  name: 'mco/retries-pulls',
  says: 'A registry that is away for a minute leaves the node on its old release for ever.',
}
export const VALIDATES_AFTER_REBOOT: Behaviour = {
  name: 'mco/validates-after-reboot',
  says: 'A node that came back in its old deployment counts as updated, and the upgrade completes without it.',
}
export const ENCAPSULATES_CONFIG: Behaviour = {
  name: 'mco/serves-the-node-image',
  says: 'A new machine stays the base image of its disk: it has no kubelet, and never joins the cluster.',
}
export const NEGOTIATES_IGNITION: Behaviour = {
  name: 'mco/translates-ignition',
  says: 'A machine from an older boot image gets a config of a spec that it cannot read, and ends in its emergency shell.',
}
export const WAITS_FOR_POOLS: Behaviour = {
  name: 'mco/waits-for-required-pools',
  says: 'The operator reports the release while the control plane still runs the old one: the upgrade completes too early.',
}
export const UPDATES_BOOT_IMAGES: Behaviour = {
  name: 'mco/updates-boot-images',
  says: 'New machines are installed from the image of the first release for ever: each scale-up pulls and boots twice.',
}
export const WITHHOLDS_BOOT_IMAGES: Behaviour = {
  name: 'mco/withholds-boot-images',
  says: 'A machine that is added during the upgrade is newer than the cluster that it joins.',
}
export const REFUSES_OLDER_BOOT_IMAGES: Behaviour = {
  name: 'mco/refuses-older-boot-images',
  says: 'New machines are installed from an image older than the first release: nobody tests updates from there.',
}
export const KEEPS_PINNED: Behaviour = {
  name: 'mco/keeps-pinned-boot-images',
  says: 'Machine sets that the administrator has pinned, or that install a QCOW2 image, get an image that their hosts do not boot.',
}
export const NAMES_SKEW: Behaviour = {
  name: 'mco/names-boot-image-skew',
  says: 'Two sources of the boot image differ, and nobody learns which of them a new machine comes from.',
}
