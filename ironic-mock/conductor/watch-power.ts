import type { Clock, Logger } from '../../runtime/index.js'
import type { StoreView } from '../store/open-store.js'
import type { Dispatcher } from './dispatcher.js'
import type { World } from './perform.js'
import type { Policy } from './policy.js'
import { STABLE_STATES } from './transitions.js'

interface Watch {
  dispatcher: Dispatcher
  world: World
  store: StoreView
  clock: Clock
  policy: Policy
  logger: Logger
}

/**
 * Looks from time to time how the machines are powered: a system that shuts itself down tells nobody. Only nodes that
 * nothing is going on with. The timer is weak, so it neither moves a virtual clock nor keeps a process alive.
 */
export function watchPower({ dispatcher, world, store, clock, policy, logger }: Watch): void {
  const { stopped } = dispatcher
  const look = async (): Promise<void> => {
    for (const { columns, record } of store.records.nodes.values()) {
      if (stopped.aborted) return
      if (columns.provision_state === 'enroll' || !STABLE_STATES.includes(columns.provision_state)) continue
      if (record.reservation !== null || record.maintenance) continue
      const subject = dispatcher.subject(columns.uuid)
      if (!subject) continue
      const power = await world.seePower(subject).catch(() => null)
      if (power !== null && power !== record.power_state) {
        logger('info', `node ${columns.uuid} was found with ${power}`, { node: columns.uuid })
        await dispatcher.dispatch(columns.uuid, { kind: 'power-seen', power })
      }
    }
  }
  const loop = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(policy.powerSyncInterval, { weak: true, signal: stopped })
      await look()
    }
  }
  if (policy.powerSyncInterval <= 0) return
  loop().catch((error: unknown) => {
    if (!stopped.aborted) logger('error', 'looking at the power of machines has stopped', { error })
  })
}
