import type { Clock, Logger } from '../../../runtime/index.js'
import type { StoreView } from '../../store/open-store.js'
import type { Dispatcher } from '../core/dispatcher.js'
import type { EffectRunner } from '../core/effect-runner.js'
import type { Policy } from '../core/policy.js'
import type { SeenPower } from '../core/events.js'
import { isPowerSynced } from './power-sync.js'

interface Watch {
  dispatcher: Dispatcher
  effects: EffectRunner
  store: StoreView
  clock: Clock
  policy: Policy
  logger: Logger
}

/**
 * Starts the periodic power sync, since neither a system that shuts itself down nor a BMC that is gone sends an event. The
 * timers are weak, so they neither move a virtual clock nor keep a process alive.
 */
export function watchPower(watch: Watch): void {
  const { policy } = watch
  // Only in memory, as upstream: a restarted conductor counts from 0.
  const attempts = new Map<string, number>()
  every(watch, policy.powerSyncInterval, 'the power sync', (uuid) => sync(watch, uuid, attempts))
  every(watch, policy.powerFailureRecoveryInterval, 'the recovery of power failures', (uuid) => recover(watch, uuid))
}

function every(
  { clock, store, dispatcher, logger }: Watch,
  interval: number,
  task: string,
  check: (uuid: string) => Promise<void>,
): void {
  if (interval <= 0) return
  const { stopped } = dispatcher
  const loop = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(interval, { weak: true, signal: stopped })
      for (const uuid of [...store.records.nodes.keys()]) {
        if (stopped.aborted) return
        await check(uuid)
      }
    }
  }
  loop().catch((error: unknown) => {
    if (!stopped.aborted) logger('error', `${task} has stopped`, { error })
  })
}

async function sync({ dispatcher, effects }: Watch, uuid: string, attempts: Map<string, number>): Promise<void> {
  const subject = dispatcher.subject(uuid)
  if (!subject || !isPowerSynced(subject)) return
  const seen: SeenPower | null = await effects.seePower(subject)
  if (seen === null) return
  const { power_state: known } = subject.node
  if (!('error' in seen) && (known === null || known === seen.power)) attempts.delete(uuid)
  else attempts.set(uuid, (attempts.get(uuid) ?? 0) + 1)
  const report = 'error' in seen ? null : await effects.seeModes(subject)
  await dispatcher.dispatch(uuid, { kind: 'power-seen', seen, attempt: attempts.get(uuid) ?? 0, report })
}

async function recover({ dispatcher, effects, logger }: Watch, uuid: string): Promise<void> {
  const subject = dispatcher.subject(uuid)
  if (!subject || subject.node.fault !== 'power failure' || subject.node.provision_state === 'enroll') return
  const seen = await effects.seePower(subject)
  if (seen === null || 'error' in seen) return
  logger('info', `the power of node ${uuid} can be read again: ${seen.power}`, { node: uuid })
  await dispatcher.dispatch(uuid, { kind: 'power-recovered', power: seen.power })
}
