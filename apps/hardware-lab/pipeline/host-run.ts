import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  errorChain,
  seconds,
  UserError,
  userError,
  type Clock,
  type Logger,
  type Random,
} from '../../../base/runtime/index.js'
import type { HardwareManager } from '../../../steps/index.js'
import { openSshShell } from '../../../targets/index.js'
import type { HostBmc } from '../bmc/host-bmc.js'
import { ConsoleCapture } from '../console/capture.js'
import { addFinding } from '../console/console-findings.js'
import type { IronicElsewhere } from '../ironic/ironic-elsewhere.js'
import type { Host, HostStage } from '../hosts/host.js'
import { withKeysOfFile } from '../hosts/options-as-keys.js'
import type { HostAccess } from '../live/host-access.js'
import type { HostContext } from './context.js'
import type { RunEvent } from './run-events.js'
import { limitsOf, withinTime } from './stage-limits.js'
import { stagesOf, type StageDefinition } from './stages.js'
import type { HostFailure, HostRunState, RunFolder } from './run-state.js'

export interface HostRunOptions {
  host: Host
  state: HostRunState
  folder: RunFolder
  access: HostAccess
  runId: string
  ironic: IronicElsewhere | null
  managers: readonly HardwareManager[] | undefined
  every: number
  clock: Clock
  random: Random
  logger: Logger
  /** Whether the run is to stop once the present stage has ended. */
  stopping: () => boolean
  onEvent: (event: RunEvent) => void
}

/** A host on its way through the stages. */
export class HostRun implements AsyncDisposable {
  readonly host: Host
  readonly state: HostRunState
  readonly #options: HostRunOptions
  #bmc: Promise<HostBmc | null> | undefined
  #console: ConsoleCapture | undefined
  #isOver = false
  /** The last save that a stage has asked for. */
  #saving: Promise<void> | undefined

  constructor(options: HostRunOptions) {
    this.#options = options
    this.host = options.host
    this.state = options.state
  }

  /** Does the stages before the table, or those after it. Failures are in the state; only the signal's reason is thrown. */
  async run(afterTable: boolean, signal: AbortSignal): Promise<void> {
    const { state } = this
    if (state.outcome === 'failed' || state.outcome === 'skipped' || state.outcome === 'ok') return
    const context = this.#context()
    state.outcome = 'running'
    this.#console ??= this.#capture()
    for (const stage of stagesOf(this.#options.ironic).filter((each) => each.afterTable === afterTable)) {
      if (this.#options.stopping()) return
      const before = state.stages[stage.name]?.status
      if (before === 'done' || before === 'skipped') continue
      if (await this.#stage(stage, context, signal)) continue
      await this.#readConsole(context, signal)
      return this.#ended('failed')
    }
    if (!afterTable) return
    await this.#readConsole(context, signal)
    await this.#ended('ok')
  }

  /** A stage whose time is over, or that a signal has ended, may still come here when another run goes on with the state. */
  #save(folder: RunFolder): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    const saved = folder.save(this.state)
    this.#saving = saved.catch(() => {})
    return saved
  }

  /** Leaves the host out. */
  async skip(why: string): Promise<void> {
    this.state.skipped = why
    await this.#ended('skipped')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await this.#saving
    await this.#endCapture()
    const bmc = await this.#bmc?.catch(() => null)
    await bmc?.[Symbol.asyncDispose]()
  }

  async #ended(outcome: 'ok' | 'failed' | 'skipped'): Promise<void> {
    const { state } = this
    state.outcome = outcome
    await this.#options.folder.save(state)
    const failed = Object.values(state.stages).find(({ status }) => status === 'failed')?.failure
    const why = outcome === 'skipped' ? state.skipped : (failed?.sentences[0] ?? null)
    this.#options.onEvent({ event: 'host', host: state.name, outcome, why })
    await this[Symbol.asyncDispose]()
    this.#bmc = undefined
  }

  /** @returns whether the host goes on */
  async #stage(stage: StageDefinition, context: HostContext, signal: AbortSignal): Promise<boolean> {
    const { host, state } = this
    const { clock, onEvent } = this.#options
    const { name } = stage
    const { time, retries, pause } = limitsOf(host, name)
    const entry = (state.stages[name] ??= {
      status: 'started',
      attempts: 0,
      startedAt: clock.now(),
      seconds: null,
      failure: null,
    })
    for (;;) {
      entry.status = 'started'
      entry.attempts++
      await context.save()
      onEvent({ event: 'stage', host: host.name, stage: name, status: 'started', attempt: entry.attempts })
      const ended = () => (entry.seconds = Math.round(clock.now() - entry.startedAt) / 1000)
      try {
        // The proof of a first boot has a time limit of its own, with a better sentence.
        const limit = name === 'first-boot' ? time + seconds(30) : time
        const what = `the stage ${name} of ${host.name}`
        entry.status = await withinTime({ time: limit, what, clock, signal }, (either) => stage.run(context, either))
        entry.failure = null
        const took = ended()
        await context.save()
        onEvent({ event: 'stage', host: host.name, stage: name, status: entry.status, seconds: took })
        return true
      } catch (error) {
        // Another process goes on here: the stage is neither done nor failed.
        signal.throwIfAborted()
        const failure = toHostFailure(await withWhy(error, stage, context, signal), (text) =>
          this.#options.access.mask(text),
        )
        const again = entry.attempts <= retries && isWorthRepeating(name, failure)
        Object.assign(entry, { status: again ? 'started' : 'failed', failure })
        const took = ended()
        await context.save()
        onEvent({ event: 'stage', host: host.name, stage: name, status: 'failed', seconds: took, failure, again })
        if (!again) return false
        await clock.sleep(pause, { signal })
      }
    }
  }

  /** Reads what the BMC and its console say of the machine; best effort. */
  async #readConsole(context: HostContext, signal: AbortSignal): Promise<void> {
    const { host, state } = this
    await this.#endCapture()
    const { clock, access, folder, logger } = this.#options
    // A BMC that has not answered has no log either.
    const isSilent = state.stages.bmc?.status === 'failed'
    if (host.bmc === undefined || host.bmc.console === 'none' || isSilent) return
    const since = Math.min(...Object.values(state.stages).map(({ startedAt }) => startedAt), clock.now())
    try {
      const time = { time: seconds(15), what: `reading the log of the BMC of ${host.name}`, clock, signal }
      const lines = await withinTime(
        time,
        async (either) => (await (await context.bmc(either))?.log(since, either)) ?? [],
      )
      const masked = lines.map((line) => access.mask(line))
      if (masked.length > 0)
        await appendFile(join(folder.path, 'console', `${host.name}.log`), `${masked.join('\n')}\n`, { mode: 0o600 })
      for (const line of masked) addFinding(state.console, line)
    } catch (error) {
      signal.throwIfAborted()
      logger('debug', `${host.name}: ${errorChain(error).join(': ')}`)
    }
  }

  #capture(): ConsoleCapture {
    const { host, state, folder, access, clock, logger, onEvent } = this.#options
    return new ConsoleCapture({
      host: host.name,
      file: join(folder.path, 'console', `${host.name}.log`),
      clock,
      logger,
      open: (signal) => access.openConsole(host, signal),
      mask: (text) => access.mask(text),
      findings: state.console,
      onFinding: (finding) => onEvent({ event: 'console', host: host.name, ...finding }),
    })
  }

  async #endCapture(): Promise<void> {
    const capture = this.#console
    this.#console = undefined
    await capture?.[Symbol.asyncDispose]()
  }

  #context(): HostContext {
    const { host, state, folder, access, runId, ironic, managers, every, clock, random, logger, onEvent } =
      this.#options
    return {
      host,
      state,
      folder,
      access,
      runId,
      ironic,
      managers,
      every,
      clock,
      random,
      logger,
      bmc: (signal) => {
        this.#bmc ??= access.openBmc(host, signal)
        this.#bmc.catch(() => (this.#bmc = undefined))
        return this.#bmc
      },
      save: () => this.#save(folder),
      report: (event) => onEvent(maskEvent(event, access)),
    }
  }
}

/** Stages that work through SSH all the time: where one took too long, a link that is cut is the likely cause. */
const BY_SSH = new Set<HostStage>(['check', 'steps', 'post-checks'])

/** Looks whether a host whose stage took too long can be reached at all. */
async function withWhy(
  error: unknown,
  { name }: StageDefinition,
  context: HostContext,
  signal: AbortSignal,
): Promise<unknown> {
  const known = userError(error)
  if (known?.code !== 'stage-timeout' || known.cause !== undefined || !BY_SSH.has(name)) return error
  const { host, access, clock } = context
  try {
    await withinTime({ time: seconds(10), what: `logging in to ${host.name}`, clock, signal }, async (either) => {
      await using _ = await openSshShell({ ...(await access.ssh(host)), signal: either })
    })
    return error
  } catch (cause) {
    signal.throwIfAborted()
    return new UserError('stage-timeout', known.message, { cause })
  }
}

function maskEvent(event: RunEvent, access: HostAccess): RunEvent {
  return event.event === 'progress' && event.text !== undefined ? { ...event, text: access.mask(event.text) } : event
}

/** Refusals stay what they are; a second look helps against what comes and goes. */
const FINAL = new Set([
  'hosts-file',
  'hosts-secret',
  'butane',
  'outcome-unknown',
  'hardware-changed',
  'hardware-unexpected',
  'bmc-certificate',
  'bmc-lacks',
  'disk-in-use',
  'no-disk',
  'ironic-node',
  'host-key-unknown',
  'host-key-changed',
  'ssh-other-host',
])

const isWorthRepeating = (_: HostStage, { code }: HostFailure): boolean => !FINAL.has(code)

function toHostFailure(error: unknown, mask: (text: string) => string): HostFailure {
  const known = userError(error)
  return {
    code: known?.code ?? 'unexpected',
    sentences: errorChain(known ?? error).map((text) => mask(withKeysOfFile(text))),
    remedy: known?.remedy === undefined ? null : mask(withKeysOfFile(known.remedy)),
  }
}
