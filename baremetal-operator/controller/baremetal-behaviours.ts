import type { Behaviour } from '../../base/kubernetes/index.js'

/** Behaviours of BareMetal Operator. */
export const REGISTERS_AGAIN: Behaviour = {
  name: 'bmo/registers-again',
  stories: { today: 'ironic-after-images', document: 'ironic-after-images' },
  says: 'after Ironic restarts, which loses its database, it no longer knows any host: none can be booted, installed or removed',
  source: 'baremetal-operator 02aa505 internal/controller/metal3.io/host_state_machine.go ensureRegistered',
}
export const ADOPTS: Behaviour = {
  name: 'bmo/adopts',
  stories: { today: 'ironic-forgets', document: 'ironic-forgets' },
  says: 'after Ironic loses its database, it treats running nodes as free machines: cleaning one erases its disk',
  source: 'baremetal-operator 02aa505 pkg/provisioner/ironic/ironic.go Adopt',
}
export const REBOOTS_WAITING: Behaviour = {
  name: 'bmo/reboots-waiting-hosts',
  stories: { document: 'ironic-after-images' },
  says: 'hosts that are not provisioned keep running the deploy image from before the upgrade, without its fixes',
  source: 'design document 000',
  document: '000',
}
export const BACKS_OFF: Behaviour = {
  name: 'bmo/backs-off',
  stories: { today: 'wrong-password', document: 'wrong-password' },
  says: 'a failing host is retried every few seconds, until its BMC locks the account',
  source: 'baremetal-operator 02aa505 internal/controller/metal3.io/action_result.go calculateBackoff',
}
export const FOLLOWS_THE_IMAGE: Behaviour = {
  name: 'bmo/uses-the-image-of-the-host',
  stories: { today: 'own-network', document: 'own-network' },
  says: 'hosts keep booting the deploy image that was current at registration; once it is gone, they boot nothing',
  source: 'baremetal-operator 02aa505 internal/controller/metal3.io/baremetalhost_controller.go getPreprovImage',
}
export const WAITS_FOR_THE_IMAGE: Behaviour = {
  name: 'bmo/waits-for-the-image',
  stories: { today: 'own-network', document: 'own-network' },
  says: 'hosts are inspected and cleaned before their own deploy image exists: Ironic boots an image without their settings',
  source: 'baremetal-operator 02aa505 internal/controller/metal3.io/baremetalhost_controller.go preprovImageAvailable',
}
export const CLEANS_UP: Behaviour = {
  name: 'bmo/deprovisions',
  stories: { today: 'reprovision', document: 'reprovision' },
  says: 'a host whose image has changed is reported as available but still has its old system',
  source: 'baremetal-operator 02aa505 internal/controller/metal3.io/host_state_machine.go handleProvisioned',
}
export const LIMITS_BUSY_HOSTS: Behaviour = {
  name: 'bmo/limits-busy-hosts',
  stories: { today: 'rack', document: 'rack' },
  says: 'all hosts boot over the provisioning network at once and overload its DHCP and TFTP servers',
  source: 'baremetal-operator 02aa505 pkg/provisioner/ironic/ironic.go HasCapacity',
}
export const COPIES_LABELS: Behaviour = {
  name: 'bmo/copies-labels',
  stories: { today: 'host-stream' },
  says: 'the image service never learns the stream of a host: it boots the default one',
  source: 'baremetal-operator 02aa505 internal/controller/metal3.io/baremetalhost_controller.go getPreprovImage',
}

export const BARE_METAL_OPERATOR_BEHAVIOURS: readonly Behaviour[] = [
  COPIES_LABELS,
  REGISTERS_AGAIN,
  REBOOTS_WAITING,
  ADOPTS,
  BACKS_OFF,
  FOLLOWS_THE_IMAGE,
  WAITS_FOR_THE_IMAGE,
  CLEANS_UP,
  LIMITS_BUSY_HOSTS,
]
