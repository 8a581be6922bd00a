import type { Behaviour } from '../behaviours.js'

/** Behaviours of BareMetal Operator. */
export const REGISTERS_AGAIN: Behaviour = {
  name: 'bmo/registers-again',
  story: 'ironic-after-images',
  says: 'after a restart of Ironic, whose database goes with its pod, every host stays unknown to it: none is booted, installed or removed any more',
}
export const ADOPTS: Behaviour = {
  name: 'bmo/adopts',
  story: 'ironic-forgets',
  says: 'Ironic, which has lost its database, takes running nodes for free computers: cleaning one erases its disk',
}
export const REBOOTS_WAITING: Behaviour = {
  name: 'bmo/reboots-waiting-hosts',
  story: 'ironic-after-images',
  says: 'hosts that are not provisioned go on in the deploy image from before the upgrade, without its fixes',
}
export const BACKS_OFF: Behaviour = {
  name: 'bmo/backs-off',
  story: 'wrong-password',
  says: 'a host that fails is tried again every few seconds, until its BMC locks the account',
}
export const FOLLOWS_THE_IMAGE: Behaviour = {
  name: 'bmo/uses-the-image-of-the-host',
  story: 'own-network',
  says: 'hosts keep booting the deploy image that was current when they were registered; once it is gone, they boot nothing',
}
export const WAITS_FOR_THE_IMAGE: Behaviour = {
  name: 'bmo/waits-for-the-image',
  story: 'own-network',
  says: 'hosts are inspected and cleaned before their own deploy image is made: what Ironic boots in its place has none of their settings',
}
export const CLEANS_UP: Behaviour = {
  name: 'bmo/deprovisions',
  story: 'reprovision',
  says: 'a host whose image is changed is said to be free, and still has its old system',
}
export const LIMITS_BUSY_HOSTS: Behaviour = {
  name: 'bmo/limits-busy-hosts',
  story: 'rack',
  says: 'all hosts boot over the provisioning network at once, more than its DHCP and TFTP servers can take',
}

export const BARE_METAL_OPERATOR_BEHAVIOURS: readonly Behaviour[] = [
  REGISTERS_AGAIN,
  REBOOTS_WAITING,
  ADOPTS,
  BACKS_OFF,
  FOLLOWS_THE_IMAGE,
  WAITS_FOR_THE_IMAGE,
  CLEANS_UP,
  LIMITS_BUSY_HOSTS,
]
