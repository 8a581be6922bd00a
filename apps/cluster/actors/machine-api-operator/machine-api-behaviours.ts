import type { Behaviour } from '../../../../base/kubernetes/index.js'

export const CHOOSES_FREE_HOSTS: Behaviour = {
  name: 'mao/chooses-free-hosts',
  stories: { today: 'no-free-host', document: 'no-free-host' },
  says: 'a machine claims a host that another machine uses: its disk is overwritten under a running node',
  source: 'cluster-api-provider-baremetal f2b0db1 pkg/cloud/baremetal/actuators/machine/actuator.go chooseHost',
}
export const RELEASES_EMPTY_HOSTS: Behaviour = {
  name: 'mao/releases-empty-hosts',
  stories: { today: 'scale-down', document: 'scale-down' },
  says: 'a deleted machine leaves its host provisioned: the old node comes back, and the host is never available again',
  source: 'cluster-api-provider-baremetal f2b0db1 pkg/cloud/baremetal/actuators/machine/actuator.go Delete',
}
export const DRAINS_BEFORE_DELETION: Behaviour = {
  name: 'mao/drains-before-deletion',
  stories: { today: 'scale-down', document: 'scale-down' },
  says: 'a machine is powered off under its workloads when the set is scaled down',
  source: 'machine-api-operator 9511961 pkg/controller/machine/drain_controller.go drainNode',
}
export const REPLACES_MACHINES: Behaviour = {
  name: 'mao/keeps-replicas',
  stories: { today: 'no-free-host', document: 'skew' },
  says: 'a deleted machine is not replaced, and scaling a set has no effect',
  source: 'machine-api-operator 9511961 pkg/controller/machineset/controller.go syncReplicas',
}
