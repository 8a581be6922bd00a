import type { NodeRecord } from '../../base/wire/index.js'
import { ringPosition, type HashRing } from './hash-ring.js'

/** Parts of each ring that are locked one by one: a lock for each node would be too many, one for a host too few. */
export const SHARDS_OF_RING = 256

/** Members of a node's record that decide which conductor has it. */
export type PlacedNode = Readonly<Pick<NodeRecord, 'uuid' | 'driver' | 'conductor_group'>>

/** Shard of a node in its ring: the first byte of its position. */
export const shardOf = (uuid: string): number => Number.parseInt(ringPosition(uuid).slice(0, 2), 16)

/** Name of a ring, as in ironic 39.0.0 common/hash_ring.py: conductors of one group that have one hardware type. */
export const ringName = (group: string, driver: string): string => `${group}:${driver}`

/** Position of a shard: its middle, so that most of its nodes have the conductor that they would have by themselves. */
const positionOf = (shard: number): string => `${shard.toString(16).padStart(2, '0')}8${'0'.repeat(29)}`

/** Host of each shard; empty without hosts. */
export function hostsOfShards(ring: HashRing): string[] {
  const hosts = Array.from({ length: SHARDS_OF_RING }, (_, shard) => ring.hostAt(positionOf(shard)))
  return hosts.filter((host) => host !== undefined)
}
