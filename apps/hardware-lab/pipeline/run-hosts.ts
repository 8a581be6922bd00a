import { sha256Hex } from '../../../base/bytes/index.js'
import { join } from 'node:path'
import {
  inParallel,
  makeFolder,
  seconds,
  tryLock,
  UserError,
  type Clock,
  type Logger,
  type Random,
} from '../../../base/runtime/index.js'
import type { HardwareManager } from '../../../steps/index.js'
import { machineKeyOf } from '../hosts/host-names.js'
import type { Host } from '../hosts/host.js'
import type { IronicElsewhere } from '../ironic/ironic-elsewhere.js'
import type { HostAccess } from '../live/host-access.js'
import { reportOf, type RunReport } from '../report/run-report.js'
import type { RunEvent, TableRow } from './run-events.js'
import { HostRun } from './host-run.js'
import { openRun, runningElsewhere } from './earlier-run.js'
import type { HostRunState, RunFolder, HostsRunRecord } from './run-state.js'

export interface RunHostsOptions {
  hosts: readonly Host[]
  /** Path of the file of hosts. */
  file: string
  access: HostAccess
  /** The Ironic that does the work, in place of this run itself. */
  ironic?: IronicElsewhere
  folder: RunFolder
  /** Folder of locks that runs with other state folders see too; null for machines that only this run has. */
  locks: string | null
  parallel: number
  /** Failed hosts after which no other is begun. */
  maxFailures?: number
  /** Host that goes first, alone. */
  canary?: string
  /** Only looks at the hosts. */
  checkOnly?: boolean
  /** Goes on with the run that was begun in the folder. */
  resume?: boolean
  /** Begins anew over a run that has not ended. */
  restart?: boolean
  rehearsed?: boolean
  managersOf?: (host: Host) => Promise<readonly HardwareManager[] | undefined>
  /** Pause between two attempts to reach a system that boots, in milliseconds; two seconds by default. */
  every?: number
  clock: Clock
  random: Random
  logger: Logger
  /** Ends this process's part of the run at once; another process can go on. */
  signal: AbortSignal
  /** How a run that is to stop ends: hosts under way are finished, or only their present stages. */
  stopping?: () => 'no' | 'after the hosts' | 'after the stage'
  onEvent: (event: RunEvent) => void
  /** Called with the states of the hosts, which the run then changes. */
  onBegun?: (id: string, states: ReadonlyMap<string, HostRunState>) => void
}

/**
 * Takes hosts through all stages. All are looked at before anything is written to any of them; one that fails stops no
 * other.
 *
 * @throws UserError for a run that cannot begin or go on; the signal's reason
 */
export async function runHosts(options: RunHostsOptions): Promise<RunReport> {
  const { hosts, folder, clock, random, onEvent, signal, checkOnly = false } = options
  using own = await tryLock(folder.lock, 'exclusive')
  if (!own) throw runningElsewhere(folder)
  const { record, states } = await openRun(options)
  options.onBegun?.(record.id, states)
  onEvent({
    event: 'run',
    id: record.id,
    hosts: record.hosts,
    resumed: options.resume ?? false,
    state_dir: folder.path,
  })
  const stopping = options.stopping ?? (() => 'no')
  await using locks = new HostLocks(options.locks)
  const runs: HostRun[] = []
  try {
    for (const host of hosts) {
      const state = states.get(host.name)!
      const managers = await options.managersOf?.(host)
      const { access, every = seconds(2), logger } = options
      const run = new HostRun({
        host,
        state,
        folder,
        access,
        runId: record.id,
        ironic: options.ironic ?? null,
        managers,
        every,
        clock,
        random,
        logger,
        onEvent,
        stopping: () => stopping() === 'after the stage',
      })
      runs.push(run)
      if (!(await locks.take(host)) && !isEnded(state)) await run.skip('another run works on it: its lock is taken')
    }
    const tooMany = () => {
      const failed = runs.filter(({ state }) => state.outcome === 'failed').length
      return failed >= (options.maxFailures ?? Infinity)
    }
    const all = async (some: readonly HostRun[], afterTable: boolean) => {
      await inParallel(some, options.parallel, async (run) => {
        if (isEnded(run.state)) return
        if (tooMany()) return run.skip(`not begun, since ${options.maxFailures} hosts have failed`)
        // Hosts under way are past this check.
        if (stopping() !== 'no') return
        await run.run(afterTable, signal)
      })
    }
    // A host whose disk was begun is past the table.
    const isDiskBegun = ({ state }: HostRun) => (state.stages.steps ?? state.stages.clean) !== undefined
    await all(
      runs.filter((run) => !isDiskBegun(run)),
      false,
    )
    signal.throwIfAborted()
    onEvent({ event: 'table', rows: runs.map(({ state }) => tableRowOf(state)) })
    if (!checkOnly) {
      const canary = runs.find(({ host }) => host.name === options.canary)
      if (canary) {
        await all([canary], true)
        if (canary.state.outcome === 'failed')
          for (const run of runs)
            if (!isEnded(run.state)) await run.skip(`not begun, since the canary ${canary.host.name} failed`)
      }
      await all(
        runs.filter((run) => run !== canary),
        true,
      )
    }
    signal.throwIfAborted()
    const isOver = checkOnly || runs.every(({ state }) => isEnded(state))
    const ended: HostsRunRecord = { ...record, endedAt: isOver ? clock.now() : null }
    const report = await reportOf(
      ended,
      runs.map(({ state }) => state),
      folder,
      checkOnly,
    )
    if (checkOnly) await folder.write('run.json', JSON.stringify(ended, null, 2))
    else if (isOver) await folder.end(ended, report)
    return report
  } finally {
    for (const run of runs) await run[Symbol.asyncDispose]()
  }
}

const isEnded = ({ outcome }: HostRunState): boolean =>
  outcome === 'ok' || outcome === 'failed' || outcome === 'skipped'

const tableRowOf = (state: HostRunState): TableRow => {
  const failed = Object.values(state.stages).find(({ status }) => status === 'failed')?.failure
  const refused = state.skipped ?? failed?.sentences[0] ?? null
  return { host: state.name, ok: refused === null, refused, ...state.facts }
}

/** Locks by machine, so that two runs never meet. The kernel drops those of a process that was killed. */
class HostLocks implements AsyncDisposable {
  readonly #held: Disposable[] = []

  constructor(private readonly folder: string | null) {}

  /** @returns false where another run has it */
  async take(host: Host): Promise<boolean> {
    if (this.folder === null) return true
    const key = sha256Hex(machineKeyOf(host)).slice(0, 32)
    const lock = await this.#lock(key).catch((cause: unknown) => {
      throw new UserError('run-state', `the locks of hosts in ${this.folder} cannot be used`, {
        cause,
        remedy: 'check that folder: runs of one user find each other by its files',
      })
    })
    if (lock) this.#held.push(lock)
    return lock !== undefined
  }

  async #lock(key: string): Promise<Disposable | undefined> {
    await makeFolder(this.folder!, 0o700)
    return tryLock(join(this.folder!, `${key}.lock`), 'exclusive')
  }

  [Symbol.asyncDispose](): Promise<void> {
    for (const lock of this.#held.splice(0)) lock[Symbol.dispose]()
    return Promise.resolve()
  }
}
