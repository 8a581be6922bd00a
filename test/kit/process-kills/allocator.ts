import type { Random } from '../../../base/runtime/index.js'
import { ALLOCATED } from './client-goals.js'
import { pick, seen, type Life, type Link } from './link.js'

interface Allocation {
  uuid: string
  state: string
}

/** A client that takes nodes by allocations and releases them, while other clients use the same nodes. */
export class Allocator {
  readonly #link: Link
  readonly #random: Random

  constructor(link: Link, random: Random) {
    this.#link = link
    this.#random = random
  }

  work(): Promise<void> {
    return this.#link.keepAt((life) => this.#next(life), 60)
  }

  async #next({ send }: Life): Promise<void> {
    const listed = await seen(send('GET', '/v1/allocations'))
    if (!listed) return
    const { allocations } = JSON.parse(listed.body!) as { allocations: Allocation[] }
    const one = pick(this.#random, allocations)
    const answer =
      one && (allocations.length > 4 || this.#random.next() < 0.4)
        ? await seen(send('DELETE', `/v1/allocations/${one.uuid}`))
        : await seen(send('POST', '/v1/allocations', { resource_class: ALLOCATED }))
    // The allocation may have vanished with its instance, or the node may be deployed or locked for a moment.
    if (answer && answer.status >= 400 && ![404, 409].includes(answer.status))
      throw new Error(`an allocation was answered with ${answer.status}: ${answer.body}`)
  }
}
