import type { RecordedExchange } from './recording.js'
import type { Stage } from './stage.js'

const SETTLE_POLL_INTERVAL = 5
const TRIES = 200

/** Lets what a call has set going come to its end, as the recorded client did before it looked again. */
export const settled =
  ({ store }: Stage) =>
  async (_: RecordedExchange, path: string) => {
    const resting = async (): Promise<boolean> => {
      if (path.startsWith('/v1/allocations')) {
        const waiting = await store.resources('allocation', { where: ({ state }) => state === 'allocating' })
        return waiting.length === 0
      }
      const ident = /^\/v1\/nodes\/([^/?]+)/.exec(path)?.[1]
      const found = ident === undefined ? undefined : await store.node(ident)
      if (!found) return true
      return found.node.reservation === null && (await store.effects(found.node.uuid)).length === 0
    }
    for (let tries = 0; tries < TRIES && !(await resting()); tries++)
      await new Promise((resolve) => setTimeout(resolve, SETTLE_POLL_INTERVAL))
  }
