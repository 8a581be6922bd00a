import { spawn, type ChildProcess } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileRepresentation, serveFiles } from '../../../base/bytes/index.js'
import { openFleet, type Fleet } from '../../../apps/fleet/index.js'
import type { RunEvent, RunReport } from '../../../apps/hardware-lab/index.js'
import { REHEARSAL_IMAGE, REHEARSAL_LIVE_ISO } from '../../../lab/index.js'
import { openInScope, silent, systemClock, systemRandom, type Scope } from '../../../base/runtime/index.js'
import { IRONSTAGE } from '../../kit/commands/up-process.js'
import { expect } from 'vitest'
import { tool } from '../peers.js'
import { LoopDevice } from '../loop-device.js'
import { LabHost } from './lab-host.js'

const GIB = 2 ** 30

/** Misfortunes of the hosts, in the order of their machines. */
export const HOSTS = ['fine-1', 'fine-2', 'wrong-disk', 'cut-link', 'dark-bmc', 'no-boot'] as const
export type HostName = (typeof HOSTS)[number]

/** Stage in which each host fails, and what its report has to say. */
export const ENDS: Readonly<Record<HostName, readonly [stage: string, says: RegExp] | null>> = {
  'fine-1': null,
  'fine-2': null,
  'wrong-disk': ['check', /is no longer attached to .*another\.img/],
  'cut-link': ['steps', /cannot be reached/],
  'dark-bmc': ['power', /does not answer/],
  'no-boot': ['first-boot', /did not answer within.*emergency shell/],
}

const CONFIG = (more: object = {}): string =>
  JSON.stringify({
    ignition: { version: '3.4.0' },
    storage: { files: [{ path: '/etc/greeting', contents: { source: 'data:,hello', ...more } }] },
  })

/** Six hosts, four of them in trouble, and disks beside theirs that nothing may touch. Needs root. */
export class LabOfHosts implements AsyncDisposable {
  readonly events: (RunEvent | ({ event: 'report' } & RunReport))[] = []
  stderr = ''

  private constructor(
    readonly folder: string,
    readonly fleet: Fleet,
    readonly hosts: ReadonlyMap<HostName, LabHost>,
    private readonly bystanders: readonly LoopDevice[],
    private readonly closing: Scope,
  ) {}

  /** @param signal ends the opening: it rejects, and has freed what it had made */
  static async open(signal?: AbortSignal): Promise<LabOfHosts> {
    return openInScope((scope) => LabOfHosts.#open(scope, signal))
  }

  static async #open(scope: Scope, signal?: AbortSignal): Promise<LabOfHosts> {
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-lab-'))
    scope.onClose(() => rm(folder, { recursive: true, force: true }))
    const clock = systemClock()
    const parts = { clock, random: systemRandom, logger: silent }
    const medium = scope.use(
      await serveFiles({
        ...parts,
        host: '127.0.0.1',
        port: 0,
        find: (asked) => (asked === '/live.iso' ? fileRepresentation(REHEARSAL_LIVE_ISO, clock) : undefined),
      }),
    )
    const disks = (size: number) => ({ disks: [{ size }, { size: GIB / 8 }] })
    const fleet = scope.use(
      await openFleet({
        ...parts,
        count: HOSTS.length,
        redfish: { port: 0 },
        disks: 'file',
        hardware: [
          { count: 2, hardware: disks(2 * GIB) },
          { hardware: disks(GIB / 8) },
          { count: 3, hardware: disks(2 * GIB) },
        ],
        account: { username: 'admin', password: PASSWORD },
      }),
    )
    const hosts = new Map<HostName, LabHost>()
    const each = HOSTS.map(async (name, index) => {
      const host = await LabHost.open(name, fleet.machines.list()[index]!)
      scope.use(host)
      signal?.throwIfAborted()
      hosts.set(name, host)
    })
    const failed = (await Promise.allSettled(each)).find(({ status }) => status === 'rejected')
    if (failed) throw (failed as PromiseRejectedResult).reason
    const bystanders: LoopDevice[] = []
    for (let n = 0; n < 3; n++) {
      signal?.throwIfAborted()
      const file = join(folder, `bystander-${n}.img`)
      await writeFile(file, randomBytes(16 * 2 ** 20))
      bystanders.push(scope.use(await LoopDevice.attach(file)))
    }
    await writeFile(join(folder, 'node.ign'), CONFIG())
    await writeFile(join(folder, 'broken.ign'), CONFIG({ verification: { hash: `sha512-${'0'.repeat(128)}` } }))
    const lab = new LabOfHosts(folder, fleet, hosts, bystanders, scope)
    await writeFile(join(folder, 'hosts.yaml'), await lab.#yaml(`${medium.url}/live.iso`))
    return lab
  }

  host(name: HostName): LabHost {
    return this.hosts.get(name)!
  }

  /** Lets the troubles happen that begin in the middle of a run, once a host's installer works. */
  troubles(): Disposable {
    const ended = new AbortController()
    const watch = async () => {
      let cut = false
      let dark = false
      while (!ended.signal.aborted) {
        if (!cut && (await this.host('cut-link').installs()) > 0) {
          cut = true
          this.host('cut-link').cut()
        }
        if (!dark && (await this.host('dark-bmc').installs()) > 0) {
          dark = true
          this.fleet.faults.add({ match: { machine: 'machine-5' }, effect: { kind: 'bmc-silent' } })
        }
        await new Promise((resolve) => setTimeout(resolve, 30))
      }
    }
    void watch()
    return { [Symbol.dispose]: () => ended.abort() }
  }

  /** SHA-256 of each disk that no host is installed to. */
  async digests(): Promise<Record<string, string>> {
    const files = this.bystanders.map(({ file }) => file)
    for (const { other } of this.hosts.values()) files.push(other)
    files.push(this.host('wrong-disk').disk.file)
    const digests = await Promise.all(files.map(async (file) => [file, await digestOf(file)] as const))
    return Object.fromEntries(digests)
  }

  /** Makes the lab what it was before a run. */
  async reset(): Promise<void> {
    this.fleet.faults.clear()
    for (const host of this.hosts.values()) await host.reset()
    await rm(join(this.folder, 'state'), { recursive: true, force: true })
    this.events.length = 0
  }

  /** Starts the built command. */
  run(...more: string[]): { child: ChildProcess; ended: Promise<number | null> } {
    const argv = ['run', join(this.folder, 'hosts.yaml'), '--json', '--state-dir', join(this.folder, 'state'), ...more]
    const env = { PATH: process.env['PATH'], HOME: this.folder, USER: 'tester', BMC_PASSWORD: PASSWORD }
    const child = spawn(process.execPath, [IRONSTAGE, ...argv], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let rest = ''
    child.stdout.on('data', (bytes: Buffer) => {
      const lines = (rest + bytes.toString()).split('\n')
      rest = lines.pop()!
      for (const line of lines) this.events.push(JSON.parse(line) as RunEvent)
    })
    child.stderr.on('data', (bytes: Buffer) => (this.stderr += bytes.toString()))
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    return { child, ended }
  }

  /**
   * Goes on with the run, or begins it, and kills it after some milliseconds.
   *
   * @returns whether it was killed; false when it had ended before
   */
  async killedAfter(ms: number, options: readonly string[] = []): Promise<boolean> {
    const { child, ended } = this.run(...(await this.#resume()), ...options)
    const timer = setTimeout(() => child.kill('SIGKILL'), ms)
    const code = await ended
    clearTimeout(timer)
    return code === null
  }

  /** Goes on with the run to its end. */
  async goesOn(options: readonly string[] = []): Promise<number | null> {
    return this.run(...(await this.#resume()), ...options).ended
  }

  /** Compares the report with what has happened to each host. */
  expectEnds(): void {
    const found = this.report.hosts.map(({ host, outcome, stages, console }) => {
      const failed = stages.find(({ status }) => status === 'failed')
      const says = [...(failed?.failure?.sentences ?? []), ...console.map(({ kind }) => kind)].join(': ')
      return [host, { outcome, stage: failed?.stage ?? null, says }] as const
    })
    const expected = Object.entries(ENDS).map(([host, end]) => {
      const says = expect.stringMatching(end?.[1] ?? /^$/) as unknown
      return [host, { outcome: end ? 'failed' : 'ok', stage: end?.[0] ?? null, says }] as const
    })
    expect(Object.fromEntries(found), this.stderr).toEqual(Object.fromEntries(expected))
  }

  /** Files of the run, and its output, that contain the BMCs' password. */
  async secretsIn(): Promise<string[]> {
    const { stdout } = await tool('grep', '-rlF', PASSWORD, join(this.folder, 'state'))
    const output = JSON.stringify(this.events) + this.stderr
    return [...stdout.split('\n').filter((line) => line !== ''), ...(output.includes(PASSWORD) ? ['output'] : [])]
  }

  get report(): RunReport {
    const found = this.events.findLast(({ event }) => event === 'report')
    if (!found) throw new Error(`there is no report: ${this.stderr}`)
    return found as unknown as RunReport
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.closing[Symbol.asyncDispose]()
  }

  /** A run that was killed before it had begun has nothing to go on with. */
  async #resume(): Promise<string[]> {
    const begun = await readFile(join(this.folder, 'state/run.json'), 'utf8').catch(() => null)
    return begun === null ? [] : ['--resume']
  }

  async #yaml(iso: string): Promise<string> {
    const lines = [
      'run: {parallel: 6}',
      'defaults:',
      '  bmc: {username: admin, password: {env: BMC_PASSWORD}}',
      `  live: {iso: "${iso}"}`,
      '  ignition: node.ign',
      `  image: ${REHEARSAL_IMAGE}`,
      '  append-kargs: [lab=six]',
      '  post-checks: [{command: cat /etc/greeting, output: hello}]',
      '  stages:',
      '    bmc: {time: 60s}',
      '    steps: {time: 60s}',
      '    power: {time: 30s, retries: 0}',
      '    first-boot: {time: 60s}',
      'hosts:',
    ]
    for (const [name, host] of this.hosts) {
      const { disk, live, port } = host
      const serial = name === 'wrong-disk' ? join(this.folder, 'another.img') : disk.file
      lines.push(
        `  ${name}:`,
        `    bmc: {redfish: "${this.fleet.redfishUrl}", system: ${host.simulated.spec.bmc!.systemId}}`,
        `    disk: {name: ${disk.device}, serial: ${serial}}`,
        `    ssh: {address: "127.0.0.1:${port}", user: root, key: ${live.keys.key}, config: none, host-keys: ["${await live.hostKey()}"]}`,
        ...(name === 'no-boot' ? ['    ignition: broken.ign', '    stages: {first-boot: {time: 20s}}'] : []),
        ...(name === 'cut-link' ? ['    stages: {steps: {time: 20s}}'] : []),
      )
    }
    return `${lines.join('\n')}\n`
  }
}

const PASSWORD = 'bmc-canary-7731'

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
