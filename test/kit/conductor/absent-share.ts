import type { PlacedNode } from '../../../ironic-mock/members/shards.js'
import { Placement } from '../../../ironic-mock/members/placement.js'
import { WholeShare, type ConductorMember } from '../../../ironic-mock/members/work-share.js'
import { HARDWARE_TYPES } from '../../../ironic-mock/index.js'

/** The share of an API whose one conductor, which works on all nodes, dies or joins another group. */
export class AbsentShare extends WholeShare {
  isAlive = true
  group = ''

  constructor() {
    super({
      host: 'conductor',
      group: '',
      drivers: HARDWARE_TYPES.map(({ name }) => name),
      startedAt: 0,
    })
  }

  override conductors(): readonly ConductorMember[] {
    return super.conductors().map((member) => ({ ...member, alive: this.isAlive, group: this.group }))
  }

  override holderOf(node: PlacedNode): string | null {
    return new Placement(this.conductors()).holderOf(node)
  }

  override serves(group: string, driver: string): boolean {
    return new Placement(this.conductors()).has(group, driver)
  }
}
