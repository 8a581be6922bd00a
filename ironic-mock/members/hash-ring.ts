import { createHash } from 'node:crypto'

/** `[DEFAULT]hash_partition_exponent` of ironic 39.0.0 is 5: each host has 2^5 places. */
const PLACES_OF_HOST = 32

/** MD5 in hexadecimal. As all have the same length, their order as texts is that of the numbers that they stand for. */
export const ringPosition = (key: string): string => createHash('md5').update(key).digest('hex')

/**
 * Ring of the conductors that can have a node (tooz 9.1.0 hashring.py HashRing, by which ironic 39.0.0 common/hash_ring.py
 * maps nodes to conductors). A key belongs to the first place after its own position.
 */
export class HashRing {
  readonly #hosts = new Map<string, string>()
  readonly #places: readonly string[]

  constructor(hosts: Iterable<string>) {
    for (const host of new Set(hosts))
      // The digest of a place is of the host's name, once more for each place before it.
      for (let place = 2; place < PLACES_OF_HOST + 2; place++) this.#hosts.set(ringPosition(host.repeat(place)), host)
    this.#places = [...this.#hosts.keys()].sort()
  }

  /** Host of a {@link ringPosition}; undefined on a ring without hosts. */
  hostAt(position: string): string | undefined {
    let low = 0
    let high = this.#places.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#places[middle]! > position) high = middle
      else low = middle + 1
    }
    const place = this.#places[low] ?? this.#places[0]
    return place === undefined ? undefined : this.#hosts.get(place)
  }
}
