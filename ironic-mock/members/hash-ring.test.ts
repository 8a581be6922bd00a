import fc from 'fast-check'
import { expect, test } from 'vitest'
import upstream from '../../test/fixtures/conductor/hash-rings.json' with { type: 'json' }
import { HashRing, ringPosition } from './hash-ring.js'
import { hostsOfShards, shardOf, SHARDS_OF_RING } from './shards.js'

const hostName = fc.stringMatching(/^[a-z][a-z0-9.-]{0,20}$/)

test.each(upstream.rings)('nodes have the conductors that tooz gives them: $hosts', ({ hosts, of }) => {
  const ring = new HashRing(hosts)
  const found = upstream.uuids.map((uuid) => ring.hostAt(ringPosition(uuid)))
  expect(found).toEqual(of.map((index) => hosts[index]))
})

test('a node has the conductor of its shard, which is mostly the one that it would have by itself', () => {
  const ring = new HashRing(['conductor-0', 'conductor-1', 'conductor-2'])
  const shards = hostsOfShards(ring)
  const same = upstream.uuids.filter((uuid) => shards[shardOf(uuid)] === ring.hostAt(ringPosition(uuid)))
  expect(same.length / upstream.uuids.length).toBeGreaterThan(0.75)
  for (const uuid of upstream.uuids) expect(shards.keys()).toContain(shardOf(uuid))
})

test('each shard has one host of the ring, in whichever order the hosts are named', () => {
  fc.assert(
    fc.property(fc.uniqueArray(hostName, { minLength: 1, maxLength: 8 }), (hosts) => {
      const shards = hostsOfShards(new HashRing(hosts))
      expect(shards).toHaveLength(SHARDS_OF_RING)
      expect(hosts).toEqual(expect.arrayContaining([...new Set(shards)]))
      expect(hostsOfShards(new HashRing(hosts.toReversed()))).toEqual(shards)
    }),
    { numRuns: 30 },
  )
})

test('a host that leaves moves its own shards alone', () => {
  fc.assert(
    fc.property(fc.uniqueArray(hostName, { minLength: 2, maxLength: 8 }), ([gone, ...others]) => {
      const before = hostsOfShards(new HashRing([gone!, ...others]))
      const after = hostsOfShards(new HashRing(others))
      for (const [shard, host] of before.entries()) if (host !== gone) expect(after[shard]).toBe(host)
    }),
    { numRuns: 30 },
  )
})

test('a ring without hosts has no shards', () => {
  expect(hostsOfShards(new HashRing([]))).toEqual([])
})
