import { sha256Hex } from '../../../base/bytes/index.js'
import { join } from 'node:path'
import {
  countText,
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
  /** Failed hosts after which no other is started. */
  maxFailures?: number
  /** Host that goes first, alone. */
  canary?: string
  /** Only looks at the hosts. */
  checkOnly?: boolean
  /** Continues the unfinished run in the folder. */
  resume?: boolean
  /** Discards the unfinished run in the folder. */
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
  const { folder, clock, onEvent, signal, checkOnly = false } = options
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
  await using locks = new HostLocks(options.locks)
  await using queue = new HostQueue(options)
  await queue.open(record.id, states, locks)
  // A host whose disk was begun is past the table.
  await queue.advance(
    queue.runs.filter((run) => !isDiskBegun(run)),
    false,
  )
  signal.throwIfAborted()
  onEvent({ event: 'table', rows: queue.runs.map(({ state }) => tableRowOf(state)) })
  if (!checkOnly) await queue.install()
  signal.throwIfAborted()
  const isOver = checkOnly || queue.runs.every(({ state }) => isEnded(state))
  const ended: HostsRunRecord = { ...record, endedAt: isOver ? clock.now() : null }
  const report = await reportOf(
    ended,
    queue.runs.map(({ state }) => state),
    folder,
    checkOnly,
  )
  if (checkOnly) await folder.write('run.json', JSON.stringify(ended, null, 2))
  else if (isOver) await folder.end(ended, report)
  return report
}

/** The hosts of a run, and when each may go on. */
class HostQueue implements AsyncDisposable {
  readonly runs: HostRun[] = []
  readonly #options: RunHostsOptions

  constructor(options: RunHostsOptions) {
    this.#options = options
  }

  get #stopping(): 'no' | 'after the hosts' | 'after the stage' {
    return this.#options.stopping?.() ?? 'no'
  }

  /** Skips a host that another run has locked. */
  async open(runId: string, states: ReadonlyMap<string, HostRunState>, locks: HostLocks): Promise<void> {
    const { hosts, folder, access, ironic = null, every = seconds(2), clock, random, logger, onEvent } = this.#options
    for (const host of hosts) {
      const state = states.get(host.name)!
      const run = new HostRun({
        host,
        state,
        folder,
        access,
        runId,
        ironic,
        managers: await this.#options.managersOf?.(host),
        every,
        clock,
        random,
        logger,
        onEvent,
        stopping: () => this.#stopping === 'after the stage',
      })
      this.runs.push(run)
      if (!(await locks.take(host)) && !isEnded(state)) await run.skip('another run works on it: its lock is taken')
    }
  }

  /** Writes the disks: the canary alone, then all others unless it fails. */
  async install(): Promise<void> {
    const canary = this.runs.find(({ host }) => host.name === this.#options.canary)
    if (canary) {
      await this.advance([canary], true)
      if (canary.state.outcome === 'failed')
        for (const run of this.runs)
          if (!isEnded(run.state)) await run.skip(`not started: the canary ${canary.host.name} failed`)
    }
    await this.advance(
      this.runs.filter((run) => run !== canary),
      true,
    )
  }

  /** Takes hosts up to the table, or past it; none is started after too many failures, or when the run is to stop. */
  async advance(runs: readonly HostRun[], afterTable: boolean): Promise<void> {
    await inParallel(runs, this.#options.parallel, async (run) => {
      if (isEnded(run.state)) return
      const failed = this.runs.filter(({ state }) => state.outcome === 'failed').length
      if (failed >= (this.#options.maxFailures ?? Infinity))
        return run.skip(`not started: ${countText(failed, 'host')} failed`)
      // Hosts under way are past this check.
      if (this.#stopping !== 'no') return
      await run.run(afterTable, this.#options.signal)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const run of this.runs) await run[Symbol.asyncDispose]()
  }
}

const isDiskBegun = ({ state }: HostRun): boolean => (state.stages.steps ?? state.stages.clean) !== undefined

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
