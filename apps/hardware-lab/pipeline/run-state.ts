import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  makeFolder,
  readNamedText,
  refuseSpecialFiles,
  replaceFile,
  UserError,
  userError,
} from '../../../base/runtime/index.js'
import type { HostStage } from '../hosts/host.js'

export type StageStatus = 'started' | 'done' | 'failed' | 'skipped'

/** A failure as reports have it: sentences from the outermost to the cause, without secrets. */
export interface HostFailure {
  code: string
  sentences: string[]
  remedy: string | null
}

export interface HostStageState {
  status: StageStatus
  attempts: number
  /** Milliseconds since the Unix epoch. */
  startedAt: number
  seconds: number | null
  failure: HostFailure | null
}

/** Facts that identify a host; null for those that could not be read. */
export interface HostFacts {
  bmcSerial: string | null
  systemSerial: string | null
  product: string | null
  diskPath: string | null
  diskModel: string | null
  diskSerial: string | null
  diskWwn: string | null
  diskSize: number | null
  /** Size and model of a disk that is named by its place; null for any other. */
  diskAtPlace: string | null
  /** Partitions that would be destroyed; null where nothing has looked at them. */
  contents: string[] | null
}

export type HostOutcome = 'waiting' | 'running' | 'ok' | 'failed' | 'skipped'

export interface PostCheckResult {
  command: string
  ok: boolean
  found: string
}

/** Everything that a run knows of a host; it is stored before and after each stage. */
export interface HostRunState {
  name: string
  outcome: HostOutcome
  /** The reason why a host was not begun. */
  skipped: string | null
  stages: Partial<Record<HostStage, HostStageState>>
  facts: HostFacts
  /** Live system before the installed one boots: its identity and its host key. */
  live: { identity: Record<string, unknown>; hostKey: string } | null
  /** Secret that the installed system must have. */
  nonce: { path: string; secret: string } | null
  /** Steps that have ended, and the ids of programs that were started on the target for the one after them. */
  steps: { done: number; attempt: number; runs: string[] }
  /** Node of the host, and the verb that was sent for the present stage; null in a run without an Ironic. */
  ironic: { node: string; asked: 'inspect' | 'provide' | 'active' | null } | null
  /** True if the machine was asked to boot its disk. */
  rebooting: boolean
  checks: { what: string; ok: boolean; found: string }[]
  postChecks: PostCheckResult[]
  console: ConsoleFinding[]
}

/** A line of a console that says that something went wrong. */
export interface ConsoleFinding {
  kind: 'kernel panic' | 'emergency shell' | 'Ignition failure' | 'boot failure'
  line: string
}

export interface HostsRunRecord {
  id: string
  /** Path of the file of hosts. */
  file: string
  startedAt: number
  endedAt: number | null
  hosts: string[]
  rehearsed: boolean
  /** URL of the Ironic that it goes through. */
  throughIronic?: string
  /** True if it only looks at hosts: there is nothing to go on with. */
  checkOnly?: boolean
}

const noFacts = (): HostFacts => ({
  bmcSerial: null,
  systemSerial: null,
  product: null,
  diskPath: null,
  diskModel: null,
  diskSerial: null,
  diskWwn: null,
  diskSize: null,
  diskAtPlace: null,
  contents: [],
})

export const newHostState = (name: string): HostRunState => ({
  name,
  outcome: 'waiting',
  skipped: null,
  stages: {},
  facts: noFacts(),
  live: null,
  nonce: null,
  steps: { done: 0, attempt: 1, runs: [] },
  ironic: null,
  rebooting: false,
  checks: [],
  postChecks: [],
  console: [],
})

/** The identity of a host in the run before. */
export type KnownHost = Pick<HostFacts, 'bmcSerial' | 'systemSerial' | 'diskSerial' | 'diskWwn' | 'diskAtPlace'>

/** The folder in which a run keeps all that it knows, so that another process can go on with it. */
export class RunFolder {
  /** The last write of each file that is under way. */
  readonly #writes = new Map<string, Promise<void>>()

  private constructor(readonly path: string) {}

  /** @throws UserError `run-state` */
  static async open(path: string): Promise<RunFolder> {
    const folder = new RunFolder(path)
    await folder.#doing(async () => {
      for (const name of ['', 'hosts', 'known', 'reports', 'console']) await makeFolder(join(path, name), 0o700)
      for (const name of ['', 'hosts', 'known']) await refuseSpecialFiles(join(path, name))
    })
    return folder
  }

  /** File that the process has locked that works on the run. */
  get lock(): string {
    return join(this.path, 'run.lock')
  }

  /** The run that was begun here last. */
  run(): Promise<HostsRunRecord | null> {
    return this.#read<HostsRunRecord>('run.json')
  }

  begin(run: HostsRunRecord): Promise<void> {
    return this.#doing(async () => {
      for (const name of ['hosts', 'console']) {
        await rm(join(this.path, name), { recursive: true, force: true })
        await mkdir(join(this.path, name), { mode: 0o700 })
      }
      await this.write('run.json', JSON.stringify(run, null, 2))
    })
  }

  async end(run: HostsRunRecord, report: unknown): Promise<void> {
    await this.write(`reports/${run.id}.json`, JSON.stringify(report, null, 2))
    await this.write('run.json', JSON.stringify(run, null, 2))
  }

  host(name: string): Promise<HostRunState | null> {
    return this.#read<HostRunState>(`hosts/${name}.json`)
  }

  save(state: HostRunState): Promise<void> {
    return this.write(`hosts/${state.name}.json`, JSON.stringify(state, null, 2))
  }

  known(name: string): Promise<KnownHost | null> {
    return this.#read<KnownHost>(`known/${name}.json`)
  }

  knownFile(name: string): string {
    return join(this.path, 'known', `${name}.json`)
  }

  remember(name: string, facts: HostFacts): Promise<void> {
    const { bmcSerial, systemSerial, diskSerial, diskWwn, diskAtPlace } = facts
    const known: KnownHost = { bmcSerial, systemSerial, diskSerial, diskWwn, diskAtPlace }
    return this.write(`known/${name}.json`, JSON.stringify(known, null, 2))
  }

  /** The reports of earlier runs, the newest first. */
  async reports(): Promise<string[]> {
    const names = await readdir(join(this.path, 'reports')).catch(() => [])
    return names
      .filter((name) => name.endsWith('.json'))
      .sort()
      .reverse()
      .map((name) => name.slice(0, -'.json'.length))
  }

  report<T>(id: string): Promise<T | null> {
    return this.#read<T>(`reports/${id}.json`)
  }

  /**
   * Replaces a file at once: a reader sees the old one or the new one, also after a loss of power. Of several writes at a
   * time, as by a stage whose time is over and by what comes after it, the last one stays.
   */
  write(name: string, text: string): Promise<void> {
    const before = this.#writes.get(name) ?? Promise.resolve()
    const written = before.then(() => this.#replace(join(this.path, name), text))
    const over = written.catch(() => {})
    this.#writes.set(name, over)
    void over.then(() => {
      if (this.#writes.get(name) === over) this.#writes.delete(name)
    })
    return written
  }

  #replace(path: string, text: string): Promise<void> {
    return this.#doing(() => replaceFile(path, `${text}\n`))
  }

  async #read<T>(name: string): Promise<T | null> {
    const path = join(this.path, name)
    let text: string
    try {
      text = await readNamedText(path)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw runStateError(this.path, cause)
    }
    try {
      return JSON.parse(text) as T
    } catch (cause) {
      throw runStateError(path, cause)
    }
  }

  async #doing(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (cause) {
      throw runStateError(this.path, cause)
    }
  }
}

/** An error of the folder as such; others are no longer of it, and stay as they are. */
export function explainFolderError(path: string, error: unknown): unknown {
  const first = firstOf(error)
  if (userError(first)) return first
  const code = first instanceof Error && 'code' in first ? String(first.code) : ''
  return UNWRITABLE_CODES.test(code) ? runStateError(path, first) : error
}

/** The error that came first, where closing what was open has failed after it: a full disk fails more than once. */
function firstOf(error: unknown): unknown {
  for (let e = error; ; e = (e as SuppressedError).suppressed)
    if (!(e instanceof Error) || !('suppressed' in e)) return e
}

/** Codes of the file system, and SQLite's, of a folder that is full or cannot be written. */
const UNWRITABLE_CODES = /^(ENOSPC|EDQUOT|EROFS|EACCES|EPERM|SQLITE_(FULL|CANTOPEN|IOERR\w*|READONLY\w*))$/

const runStateError = (path: string, cause: unknown): UserError =>
  userError(cause)?.code === 'run-state'
    ? userError(cause)!
    : new UserError('run-state', `the state of runs in ${path} cannot be used`, {
        cause,
        remedy: 'check that folder, or name another with --state-dir',
      })
