import { expect } from 'vitest'
import type { JsonObject } from '../../../base/wire/index.js'
import { answered, type Life } from './link.js'

/** A number in a node's `extra` that only grows: what was acknowledged must never be missing again. */
export class Counter {
  #sent = 0
  #kept = 0

  async count({ client }: Life, node: string): Promise<void> {
    const value = ++this.#sent
    const answer = await answered(client.patchNode(node, [{ op: 'add', path: '/extra/counter', value }]))
    if (answer === 'accepted') this.#kept = value
  }

  /** The record must contain at least the last acknowledged value. */
  check(extra: JsonObject, node: string): void {
    const found = Number(extra['counter'] ?? 0)
    expect(found, `counter of ${node}`).toBeGreaterThanOrEqual(this.#kept)
    expect(found, `counter of ${node}`).toBeLessThanOrEqual(this.#sent)
    this.#kept = found
  }
}
