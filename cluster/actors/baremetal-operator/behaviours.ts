import type { Behaviour } from '../behaviours.js'

/** Behaviours of BareMetal Operator. */
export const REGISTERS_AGAIN: Behaviour = {
  name: 'bmo/registers-again',
  says: 'after a restart of Ironic, whose database is lost with its pod, every host stays unknown to it',
}
export const ADOPTS: Behaviour = {
  name: 'bmo/adopts',
  says: 'Ironic takes a provisioned host that it has forgotten for a free one, and never manages its power again',
}
export const REBOOTS_WAITING: Behaviour = {
  name: 'bmo/reboots-waiting-hosts',
  says: 'hosts that are not provisioned go on in the deploy image from before the upgrade, without its fixes',
}
export const BACKS_OFF: Behaviour = {
  name: 'bmo/backs-off',
  says: 'a host that fails is tried without a pause, and its BMC is never left in peace',
}
export const FOLLOWS_THE_IMAGE: Behaviour = {
  name: 'bmo/uses-the-image-of-the-host',
  says: 'hosts keep booting the deploy image that was current when they were registered',
}
export const WAITS_FOR_THE_IMAGE: Behaviour = {
  name: 'bmo/waits-for-the-image',
  says: 'hosts are inspected and cleaned before their deploy image is made, and boot nothing',
}
export const CLEANS_UP: Behaviour = {
  name: 'bmo/deprovisions',
  says: 'a host whose image is changed keeps running the old system',
}
export const LIMITS: Behaviour = {
  name: 'bmo/limits-busy-hosts',
  says: 'all hosts boot over the provisioning network at once, more than its DHCP and TFTP servers can take',
}

export const BARE_METAL_OPERATOR_BEHAVIOURS: readonly Behaviour[] = [
  ...[REGISTERS_AGAIN, REBOOTS_WAITING, ADOPTS, BACKS_OFF, FOLLOWS_THE_IMAGE, WAITS_FOR_THE_IMAGE, CLEANS_UP, LIMITS],
]
