import type { Clock, Logger } from '../../../base/runtime/index.js'
import type { WorkShare } from '../../members/work-share.js'
import type { StoreView } from '../../store/open-store.js'
import type { Dispatcher } from '../core/dispatcher.js'
import type { EffectRunner } from '../core/effect-runner.js'
import type { ConductorConf } from '../core/conductor-conf.js'
import type { SeenPower } from '../core/conductor-events.js'
import { isPowerSynced } from './power-sync.js'

interface PowerWatchParts {
  dispatcher: Dispatcher
  effects: EffectRunner
  store: StoreView
  share: WorkShare
  clock: Clock
  conf: ConductorConf
  logger: Logger
}

/** Failed looks at the power of nodes, and when the tasks are due, with the places of their timers. */
export interface PowerWatchState {
  readonly attempts: readonly (readonly [node: string, failed: number])[]
  readonly due: readonly (TaskDue | null)[]
}

interface TaskDue {
  readonly at: number
  readonly order: number
}

/** The periodic tasks of a conductor that look at the power of its nodes. */
export interface PowerWatch {
  /** True if a task is under way. */
  readonly isLooking: boolean
  /** Timers of the clock that are set for the tasks. */
  readonly timers: number
  take(): PowerWatchState
}

/**
 * Starts the periodic power sync, since neither a system that shuts itself down nor a BMC that is gone sends an event. The
 * timers are weak, so they neither move a virtual clock nor keep a process alive.
 */
export function watchPower(watch: PowerWatchParts, from?: PowerWatchState): PowerWatch {
  const { conf } = watch
  // Only in memory, as upstream: a restarted conductor counts from 0.
  const attempts = new Map<string, number>(from?.attempts)
  const tasks = [
    every(watch, conf.powerSyncInterval, 'the power sync', (uuid) => sync(watch, uuid, attempts), from?.due[0]),
    every(
      watch,
      conf.powerFailureRecoveryInterval,
      'the recovery of power failures',
      (uuid) => recover(watch, uuid),
      from?.due[1],
    ),
  ]
  return {
    get isLooking() {
      return tasks.some((task) => task.isOn && task.due === null)
    },
    get timers() {
      return tasks.filter(({ due }) => due !== null).length
    },
    take: () => ({ attempts: [...attempts], due: tasks.map(({ due }) => due) }),
  }
}

interface PowerTask {
  readonly isOn: boolean
  /** Null while the task is under way. */
  due: TaskDue | null
}

function every(
  { clock, store, dispatcher, logger }: PowerWatchParts,
  interval: number,
  name: string,
  check: (uuid: string) => Promise<void>,
  from?: TaskDue | null,
): PowerTask {
  const task: PowerTask = { isOn: interval > 0, due: null }
  if (!task.isOn) return task
  const { stopped } = dispatcher
  const wait = (due: TaskDue, place: { order?: number }): Promise<void> => {
    task.due = due
    return clock.sleep(due.at - clock.now(), { weak: true, signal: stopped, ...place })
  }
  const loop = async (): Promise<void> => {
    await (from ? wait(from, { order: from.order }) : wait(next(), {}))
    for (;;) {
      task.due = null
      for (const uuid of [...store.records.nodes.keys()]) {
        if (stopped.aborted) return
        await check(uuid)
      }
      await wait(next(), {})
    }
  }
  const next = (): TaskDue => ({ at: clock.now() + interval, order: clock.nextOrder ?? 0 })
  loop().catch((error: unknown) => {
    if (!stopped.aborted) logger('error', `${name} has stopped`, { error })
  })
  return task
}

async function sync(
  { dispatcher, effects, share, conf }: PowerWatchParts,
  uuid: string,
  attempts: Map<string, number>,
): Promise<void> {
  const subject = dispatcher.subject(uuid)
  if (!subject || subject.node.conductor_group !== conf.conductorGroup || !isPowerSynced(subject)) return
  if (!share.owns(subject.node)) return void attempts.delete(uuid)
  const seen: SeenPower | null = await effects.seePower(subject)
  if (seen === null) return
  const { power_state: known } = subject.node
  if (!('error' in seen) && (known === null || known === seen.power)) attempts.delete(uuid)
  else attempts.set(uuid, (attempts.get(uuid) ?? 0) + 1)
  const report = 'error' in seen ? null : await effects.seeModes(subject)
  if (!share.owns(subject.node)) return
  await dispatcher.dispatch(uuid, { kind: 'power-seen', seen, attempt: attempts.get(uuid) ?? 0, report })
}

async function recover({ dispatcher, effects, share, logger }: PowerWatchParts, uuid: string): Promise<void> {
  const subject = dispatcher.subject(uuid)
  if (
    !subject ||
    !share.owns(subject.node) ||
    subject.node.fault !== 'power failure' ||
    subject.node.provision_state === 'enroll'
  )
    return
  const seen = await effects.seePower(subject)
  if (seen === null || 'error' in seen) return
  logger('info', `the power of node ${uuid} can be read again: ${seen.power}`, { node: uuid })
  await dispatcher.dispatch(uuid, { kind: 'power-recovered', power: seen.power })
}
