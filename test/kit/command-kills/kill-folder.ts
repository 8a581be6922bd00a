import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { defined, systemClock } from '../../../base/runtime/index.js'
import { liveFiles } from '../images/live-iso.js'
import { published } from '../published.js'
import { IRONSTAGE } from '../commands/up-process.js'
import type { Ground, KilledCommand } from './rows.js'
import { hostsYaml } from '../hardware-lab/hosts-yaml.js'

const clock = systemClock()
const ISO = join(dirname(IRONSTAGE), '../../images/coreos-live.iso')
const CONFIG = '{"ignition":{"version":"3.4.0"}}'
const RECORDING = [
  '{"recording":"ironstage","version":1,"startedAt":"2026-11-23T10:00:00Z","upstream":"http://192.0.2.1/","program":"x"}',
  '{"seq":1,"at":"2026-11-23T10:00:00Z","ms":1,"from":"client","to":"ironic","method":"GET","target":"/v1/nodes",' +
    '"request":{"headers":{},"bytes":0},"status":200,"response":{"headers":{},"bytes":0}}',
  '',
].join('\n')
const KEYFILE = '[connection]\nid=eth0\ntype=ethernet\ninterface-name=eth0\n'

/** How a command ended. */
export interface End {
  code: number | null
  signal: NodeJS.Signals | null
  output: string
  /** In milliseconds, from its start. */
  took: number
}

/** A folder in which commands run and are killed, with servers for them; it reports what they leave. */
export class KillGround implements Ground, AsyncDisposable {
  readonly #place: string
  readonly #servers: readonly Server[]
  /** True if the slow server answers at once, while the inputs are made. */
  #hurried = true

  private constructor(
    place: string,
    readonly silent: string,
    readonly slow: string,
    servers: readonly Server[],
  ) {
    this.#place = place
    this.#servers = servers
  }

  static async open(): Promise<KillGround> {
    const place = await mkdtemp(join(tmpdir(), 'kills-'))
    for (const folder of ['tmp', 'home', 'given', 'out']) await mkdir(join(place, folder))
    const files: Record<string, Buffer> = {}
    const silent = createServer((socket) => socket.on('error', () => {}))
    const slow = createHttpServer((request, response) => {
      const bytes = files[request.url ?? '']
      if (!bytes) return void response.writeHead(404).end()
      response.writeHead(200, { 'content-length': bytes.length })
      response.write(bytes.subarray(0, bytes.length / 2))
      const late = ground.#hurried ? 0 : (SLOWNESS[request.url!] ?? 60_000)
      const rest = setTimeout(() => response.end(bytes.subarray(bytes.length / 2)), late)
      response.on('close', () => clearTimeout(rest))
    })
    for (const server of [silent, slow]) await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const ground = new KillGround(place, url(silent), url(slow), [silent, slow])
    await ground.#prepare(files)
    return ground
  }

  out = (name: string): string => join(this.#place, 'out', name)
  input = (name: string): string => join(this.#place, 'given', name)

  /** Runs a command to its end, or kills it after some milliseconds. */
  async run(
    { argv, stdin }: Pick<KilledCommand, 'argv' | 'stdin'>,
    kill?: { after: number; signal: NodeJS.Signals },
  ): Promise<End> {
    const from = clock.now()
    const child = spawn(process.execPath, [IRONSTAGE, ...argv(this)], {
      cwd: this.out('.'),
      env: {
        PATH: process.env['PATH'],
        HOME: join(this.#place, 'home'),
        TMPDIR: join(this.#place, 'tmp'),
        [MARK]: this.#place,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += String(bytes)))
    // A killed command reads no further.
    child.stdin.on('error', () => {})
    if (stdin !== undefined) child.stdin.end(stdin)
    const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
    if (kill) {
      const sleeping = new AbortController()
      await Promise.race([closed, clock.sleep(kill.after, { signal: sleeping.signal }).catch(() => {})])
      sleeping.abort()
      child.kill(kill.signal)
    }
    const [code, signal] = await closed
    return { code, signal, output, took: clock.now() - from }
  }

  /** Lists what remains: processes, loop devices, mounts, temporary files. */
  async left(): Promise<string[]> {
    const backing = await Promise.all(
      (await readdir('/sys/block').catch(() => []))
        .filter((name) => name.startsWith('loop'))
        .map(async (name) => [name, await text(`/sys/block/${name}/loop/backing_file`)] as const),
    )
    const mounts = (await text('/proc/self/mountinfo')).split('\n').filter((line) => line.includes(this.#place))
    const hidden = await readdir(this.#place, { recursive: true })
    return [
      ...(await this.#processes()),
      ...backing.filter(([, file]) => file.includes(this.#place)).map(([name]) => `loop device ${name}`),
      ...mounts.map((line) => `mount ${line}`),
      ...hidden.filter((path) => path.startsWith('tmp/') || /\.ironstage-tmp-[^/]*$|\.json\.\d+$|\.probe/.test(path)),
    ]
  }

  /**
   * Runs commands that clean up: every command cleans TMPDIR, and one whose file appears only when complete cleans the
   * file's folder.
   */
  async sweep(): Promise<End[]> {
    // A command sweeps the folder that it writes to: that of the kills, and those in it that have remains.
    const left = (await this.left()).map((path) => /^out\/(.+)\/\.ironstage-tmp-/.exec(path)?.[1] ?? '.')
    const swept = [...new Set(['.', ...left])].map((folder) => this.out(`${folder}/swept.img`))
    // It never replaces a file.
    for (const file of swept) await rm(file, { force: true })
    const customize = ['pxe', 'customize', '--dest-device', '/dev/sda', '-o']
    const sweepers: KilledCommand[] = [
      ...swept.map((file) => ({ ends: true, argv: () => [...customize, file, this.input('initrd.img')] })),
      { ends: true, argv: () => ['stream', 'print', `${this.slow}/quick.json`, '--insecure'] },
    ]
    const ended: End[] = []
    for (const sweeper of sweepers) ended.push(await this.run(sweeper))
    return ended
  }

  /** Removes the intended output of the commands. */
  async clear(): Promise<void> {
    await rm(this.out('.'), { recursive: true, force: true })
    await mkdir(this.out('.'))
    // A sparse file that the installer writes to.
    await writeFile(this.out('installed.img'), '')
    await truncate(this.out('installed.img'), 2 ** 28)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      if ('closeAllConnections' in server) (server.closeAllConnections as () => void)()
      server.close()
    }
    await rm(this.#place, { recursive: true, force: true })
  }

  /** Processes that were started here, also those that left the process group. */
  async #processes(): Promise<string[]> {
    const found: string[] = []
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)))
      if ((await text(`/proc/${pid}/environ`)).includes(`${MARK}=${this.#place}`))
        found.push(`process ${pid}: ${(await text(`/proc/${pid}/cmdline`)).replaceAll('\0', ' ')}`)
    return found
  }

  async #prepare(files: Record<string, Buffer>): Promise<void> {
    const live = liveFiles()
    const {
      build,
      stream,
      files: built,
    } = published(
      {
        metal: { bytes: Buffer.alloc(2 ** 20, 'metal') },
        'live-iso': { bytes: await readFile(ISO) },
        'live-kernel': { bytes: live['images/pxeboot/vmlinuz']! },
        'live-initramfs': { bytes: live['images/pxeboot/initrd.img']! },
        'live-rootfs': { bytes: live['images/pxeboot/rootfs.img']! },
      },
      {
        baseUrl: `${this.slow}/prod/streams`,
        more: { 'base-oscontainer': { image: 'quay.io/os/base', digest: 'sha256:ba5e', tags: ['9'] } },
      },
    )
    const json = Buffer.from(JSON.stringify(stream))
    Object.assign(files, built, { '/stream.json': json, '/quick.json': json })
    await writeFile(this.input('stream.json'), json)
    await writeFile(this.input('bmc.yaml'), 'base: idrac9\n')
    for (const [path, document] of Object.entries(SMALL_DUMP)) {
      await mkdir(this.input(`dump/${path}`), { recursive: true })
      await writeFile(this.input(`dump/${path}/index.json`), JSON.stringify(document))
    }
    await writeFile(this.input('recording.ndjson'), RECORDING)
    await writeFile(this.input('hosts.yaml'), hostsYaml(2))
    await writeFile(this.input('node.ign'), CONFIG)
    await writeFile(this.input('meta.json'), JSON.stringify(build))
    await writeFile(this.input('eth0.nmconnection'), KEYFILE, { mode: 0o600 })
    await writeFile(this.input('initrd.img'), live['images/pxeboot/initrd.img']!)
    await mkdir(this.input('release/machine-os-content/x86_64'), { recursive: true })
    await writeFile(this.input('release/machine-os-content/x86_64/bootimage.json'), JSON.stringify(build))
    const prepared: [string[], string?][] = [
      [['iso', 'ignition', 'embed', '-o', this.input('embedded.iso'), ISO], CONFIG],
      [['iso', 'network', 'embed', '-k', this.input('eth0.nmconnection'), '-o', this.input('networked.iso'), ISO]],
      [['pxe', 'ignition', 'wrap', '-o', this.input('wrapped.img')], CONFIG],
      [
        [
          'machine-os',
          'build',
          this.input('machine-os'),
          '-s',
          this.input('stream.json'),
          '-a',
          'x86_64',
          '--insecure',
        ],
      ],
      [['pxe', 'network', 'wrap', '-k', this.input('eth0.nmconnection'), '-o', this.input('network.img')]],
    ]
    for (const [argv, stdin] of prepared) {
      const { code, output } = await this.run({ argv: () => argv, ...defined({ stdin }) })
      if (code !== 0) throw new Error(`${argv.join(' ')}: ${output}`)
    }
    await this.run(
      { argv: () => ['up', '--port', '0', '--nodes', '1', '--state-dir', this.input('state')] },
      { after: 4000, signal: 'SIGTERM' },
    )
    this.#hurried = false
    await this.clear()
  }
}

/** A variable in the environment of every process that is started here. */
const MARK = 'KILLED_BELOW'
/** A dump of the fewest resources that make a machine. */
const SMALL_DUMP: Readonly<Record<string, object>> = {
  'redfish/v1': { '@odata.type': '#ServiceRoot.v1_5_0.ServiceRoot', Systems: { '@odata.id': '/redfish/v1/Systems' } },
  'redfish/v1/Systems': { Members: [{ '@odata.id': '/redfish/v1/Systems/1' }] },
  'redfish/v1/Systems/1': { '@odata.type': '#ComputerSystem.v1_5_0.ComputerSystem', PowerState: 'On' },
}

/** Milliseconds until the second half of a file comes; a minute for all others. */
const SLOWNESS: Readonly<Record<string, number>> = { '/quick.json': 0, '/stream.json': 300 }

const text = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')
