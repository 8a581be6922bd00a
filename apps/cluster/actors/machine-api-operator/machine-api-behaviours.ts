import type { Behaviour } from '../behaviours.js'

export const CHOOSES_FREE_HOSTS: Behaviour = {
  name: 'mao/chooses-free-hosts',
  story: 'no-free-host',
  says: 'a machine takes a host that another machine uses: its disk is overwritten under a running node',
}
export const RELEASES_EMPTY_HOSTS: Behaviour = {
  name: 'mao/releases-empty-hosts',
  story: 'scale-down',
  says: 'a deleted machine leaves its host provisioned: the old node comes back, and the host is never free again',
}
export const DRAINS_BEFORE_DELETION: Behaviour = {
  name: 'mao/drains-before-deletion',
  story: 'scale-down',
  says: 'a machine is switched off under its workloads when the set is scaled down',
}
export const REPLACES_MACHINES: Behaviour = {
  name: 'mao/keeps-replicas',
  story: 'skew',
  says: 'a machine that is deleted is not replaced, and a set that is scaled stays as it is',
}
