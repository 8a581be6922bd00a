import type { Behaviour } from '../../base/kubernetes/index.js'

/** Behaviours of BareMetal Operator. */
export const REGISTERS_AGAIN: Behaviour = {
  name: 'bmo/registers-again',
  story: 'ironic-after-images',
  says: 'after Ironic restarts, which loses its database, it no longer knows any host: none can be booted, installed or removed',
}
export const ADOPTS: Behaviour = {
  name: 'bmo/adopts',
  story: 'ironic-forgets',
  says: 'after Ironic loses its database, it treats running nodes as free machines: cleaning one erases its disk',
}
export const REBOOTS_WAITING: Behaviour = {
  name: 'bmo/reboots-waiting-hosts',
  story: 'ironic-after-images',
  says: 'hosts that are not provisioned keep running the deploy image from before the upgrade, without its fixes',
}
export const BACKS_OFF: Behaviour = {
  name: 'bmo/backs-off',
  story: 'wrong-password',
  says: 'a failing host is retried every few seconds, until its BMC locks the account',
}
export const FOLLOWS_THE_IMAGE: Behaviour = {
  name: 'bmo/uses-the-image-of-the-host',
  story: 'own-network',
  says: 'hosts keep booting the deploy image that was current at registration; once it is gone, they boot nothing',
}
export const WAITS_FOR_THE_IMAGE: Behaviour = {
  name: 'bmo/waits-for-the-image',
  story: 'own-network',
  says: 'hosts are inspected and cleaned before their own deploy image exists: Ironic boots an image without their settings',
}
export const CLEANS_UP: Behaviour = {
  name: 'bmo/deprovisions',
  story: 'reprovision',
  says: 'a host whose image has changed is reported as available but still has its old system',
}
export const LIMITS_BUSY_HOSTS: Behaviour = {
  name: 'bmo/limits-busy-hosts',
  story: 'rack',
  says: 'all hosts boot over the provisioning network at once and overload its DHCP and TFTP servers',
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
