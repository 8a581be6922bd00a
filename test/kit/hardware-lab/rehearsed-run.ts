import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  MACHINE_POLL_INTERVAL,
  openRehearsal,
  readHosts,
  RunFolder,
  runHosts,
  type Rehearsal,
  type RunEvent,
  type RunHostsOptions,
  type RunReport,
} from '../../../apps/hardware-lab/index.js'
import type { Fault } from '../../../control/index.js'
import { NO_PACE, type MachinePace } from '../../../machine/index.js'
import { silent, systemClock, systemRandom, type Logger } from '../../../base/runtime/index.js'

export const IGNITION = JSON.stringify({
  ignition: { version: '3.4.0' },
  storage: { files: [{ path: '/etc/greeting', contents: { source: 'data:,hello%0A' } }] },
})

/** A folder with a file of hosts, and rehearsals of it. */
export class RehearsedRuns implements AsyncDisposable {
  readonly events: RunEvent[] = []
  #rehearsal: Rehearsal | undefined

  private constructor(readonly folder: string) {}

  static async make(yaml: string, ignition = IGNITION): Promise<RehearsedRuns> {
    const runs = new RehearsedRuns(await mkdtemp(join(tmpdir(), 'ironstage-run-')))
    await writeFile(join(runs.folder, 'hosts.yaml'), yaml)
    await writeFile(join(runs.folder, 'node.ign'), ignition)
    return runs
  }

  get rehearsal(): Rehearsal {
    return this.#rehearsal!
  }

  /** Opens the simulated lab, or a new one with other faults on the same machines. */
  async open(faults: readonly Fault[] = [], logger: Logger = silent, pace: MachinePace = NO_PACE): Promise<Rehearsal> {
    await this.close()
    const file = await readHosts(join(this.folder, 'hosts.yaml'))
    this.#rehearsal = await openRehearsal({
      file,
      hosts: file.hosts,
      faults,
      folder: join(this.folder, 'lab'),
      variables: {},
      clock: systemClock(),
      random: systemRandom,
      logger,
      pace,
    })
    return this.#rehearsal
  }

  async run(options: Partial<RunHostsOptions> = {}): Promise<RunReport> {
    const { access, hosts } = this.#rehearsal ?? (await this.open())
    return runHosts({
      file: 'hosts.yaml',
      hosts,
      access,
      locks: null,
      parallel: 4,
      rehearsed: true,
      every: MACHINE_POLL_INTERVAL,
      folder: options.folder ?? (await RunFolder.open(join(this.folder, 'state'))),
      clock: systemClock(),
      random: systemRandom,
      logger: silent,
      signal: new AbortController().signal,
      onEvent: (event) => void this.events.push(event),
      ...options,
    })
  }

  /** Ends the simulated lab, as the end of its process does. Its machines are stored. */
  async close(): Promise<void> {
    await this.#rehearsal?.[Symbol.asyncDispose]()
    this.#rehearsal = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
    await rm(this.folder, { recursive: true, force: true })
  }
}
