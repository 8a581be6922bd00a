import { HashRing, ringPosition } from './hash-ring.js'
import { hostsOfShards, ringName, shardOf, type PlacedNode } from './shards.js'
import type { ConductorMember } from './work-share.js'

/** Identifies a placement: the conductors that are alive, with their groups and drivers. */
export const keyOfPlacement = (conductors: readonly ConductorMember[]): string =>
  JSON.stringify(conductors.filter(({ alive }) => alive).map(({ host, group, drivers }) => [host, group, drivers]))

/** Which of the conductors that are alive has which nodes. */
export class Placement {
  readonly key: string
  readonly #rings = new Map<string, readonly string[]>()
  readonly #all: HashRing

  constructor(conductors: readonly ConductorMember[]) {
    const alive = conductors.filter((conductor) => conductor.alive)
    this.key = keyOfPlacement(conductors)
    this.#all = new HashRing(alive.map(({ host }) => host))
    const hosts = new Map<string, string[]>()
    for (const { host, group, drivers } of alive)
      for (const driver of drivers) {
        const name = ringName(group, driver)
        hosts.set(name, [...(hosts.get(name) ?? []), host])
      }
    // Most rings have the same hosts.
    const known = new Map<string, readonly string[]>()
    for (const [name, ofRing] of hosts) {
      const same = ofRing.join(' ')
      const shards = known.get(same) ?? hostsOfShards(new HashRing(ofRing))
      known.set(same, shards)
      this.#rings.set(name, shards)
    }
  }

  has(group: string, driver: string): boolean {
    return this.#rings.has(ringName(group, driver))
  }

  holderOf({ uuid, driver, conductor_group: group }: PlacedNode): string | null {
    return this.#rings.get(ringName(group, driver))?.[shardOf(uuid)] ?? null
  }

  /** The conductor that looks for the node of an allocation, which has neither group nor driver. */
  holderOfAllocation(uuid: string): string | null {
    return this.#all.hostAt(ringPosition(uuid)) ?? null
  }

  /** The shards of a ring that are a host's. */
  shardsOf(ring: string, host: string): number[] {
    const hosts = this.#rings.get(ring) ?? []
    return [...hosts.keys()].filter((shard) => hosts[shard] === host)
  }
}
