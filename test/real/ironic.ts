import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { defined } from '../../base/runtime/index.js'
import { freePort } from './free-port.js'
import { pythonPeer, tool } from './peers.js'
import { REAL_PEER_TIMEOUT } from './limits.js'

/** Every distribution that is installed, pinned. Benchmarks run this file compiled, beside which there is no list. */
const PINNED = fileURLToPath(new URL('./peers/ironic.txt', import.meta.url.replace('/dist/test/real/', '/test/real/')))

/** A real Ironic, API and conductor in one process. */
export interface RealIronic extends AsyncDisposable {
  /** The URL of the API, without `/v1`. */
  readonly url: string
  /** The id of the process group's leader. */
  readonly pid: number
  /** Milliseconds from the start of the process to its first 200. */
  readonly startedIn: number
  /** The text of its `ironic.conf`. */
  readonly config: string
  /** As a client asks it, at the newest microversion. */
  send(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>
  /** The same for what must be answered with a status; gives the body. */
  done(status: number, method: string, path: string, body?: unknown): Promise<unknown>
  /** The end of what it logged. */
  logged(): Promise<string>
  /** The provision states that a node has moved to, all of them: polling may miss one. */
  moves(uuid: string): Promise<string[]>
  /** The last lines of its log that name a node, and its last errors. */
  loggedOf(uuid: string): Promise<string>
}

/** The folder of the real Ironic, installed the first time. */
export const ironicPeer = (): Promise<string> => pythonPeer(PINNED)

/**
 * Starts a real Ironic with an empty database on loopback, installing it first where it is not.
 *
 * @param environment further variables of its process
 * @throws when it cannot be installed or does not answer: a missing peer is a failure, never a skip
 */
export async function realIronic(
  settings: Readonly<Record<string, Record<string, string | number>>> = {},
  environment: Readonly<Record<string, string>> = {},
) {
  const venv = await ironicPeer()
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-ironic-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const config = await configure(folder, port, settings)
  const program = (name: string): [string, string] => [join(venv, 'bin/python'), join(venv, 'bin', name)]
  await copyFile(await emptyDatabase(venv), join(folder, 'ironic.sqlite'))

  const out = openSync(join(folder, 'stdout.log'), 'a')
  const [python, ironic] = program('ironic')
  const since = performance.now()
  let startedIn = 0
  // Ironic forks; its processes form a group, so that one signal ends all of them.
  const child = spawn(python, [ironic, '--config-file', join(folder, 'ironic.conf')], {
    cwd: folder,
    env: { ...process.env, ...environment },
    detached: true,
    stdio: ['ignore', out, out],
  })
  closeSync(out)
  const killed = () => signalGroup(child, 'SIGKILL')
  process.once('exit', killed)
  const logged = async () =>
    (await Promise.all(['ironic.log', 'stdout.log'].map((name) => tail(join(folder, name))))).join('\n')
  const send: RealIronic['send'] = async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { 'x-openstack-ironic-api-version': '1.115', 'content-type': 'application/json' },
      ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : (JSON.parse(text) as unknown) }
  }
  const self: RealIronic = {
    config,
    url,
    send,
    pid: child.pid!,
    get startedIn() {
      return startedIn
    },
    done: async (status, method, path, body) => {
      const answer = await send(method, path, body)
      if (answer.status === status) return answer.body
      throw new Error(`${method} ${path} was answered by ${answer.status}: ${JSON.stringify(answer.body)}`)
    },
    logged,
    moves: async (uuid) => {
      const moved = new RegExp(`Node ${uuid} moved to provision state "([^"]*)"`, 'g')
      return [...(await readFile(join(folder, 'ironic.log'), 'utf8')).matchAll(moved)].map(([, state]) => state!)
    },
    loggedOf: async (uuid) => {
      const lines = (await readFile(join(folder, 'ironic.log'), 'utf8')).split('\n')
      return lines
        .filter((line) => line.includes(uuid) || line.includes(' ERROR '))
        .slice(-40)
        .join('\n')
    },
    async [Symbol.asyncDispose]() {
      process.removeListener('exit', killed)
      await stop(child)
      await rm(folder, { recursive: true, force: true })
    },
  }
  try {
    await answering(`${url}/v1/`, child)
    startedIn = performance.now() - since
    return self
  } catch (cause) {
    const log = await logged()
    await self[Symbol.asyncDispose]()
    throw new Error(`Ironic did not start:\n${log}`, { cause })
  }
}

/** An Ironic's database with nothing in it: made once of each installation, since its schema takes as long as a start. */
async function emptyDatabase(venv: string): Promise<string> {
  const template = join(venv, 'empty.sqlite')
  if (existsSync(template)) return template
  const folder = await mkdtemp(join(venv, 'making-'))
  try {
    const path = join(folder, 'ironic.sqlite')
    const config = join(folder, 'ironic.conf')
    await writeFile(config, `[database]\nconnection = sqlite:///${path}\n`)
    const python = join(venv, 'bin/python')
    const made = await tool(python, join(venv, 'bin/ironic-dbsync'), '--config-file', config, 'create_schema')
    if (made.code !== 0) throw new Error(`ironic-dbsync ended with ${made.code}: ${made.stderr.slice(-2000)}`)
    // With a log its readers and its one writer do not wait for each other.
    const log = 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("PRAGMA journal_mode = WAL")'
    await tool(python, '-c', log, path)
    await rename(path, template)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return template
}

async function tail(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.slice(-6000)
}

/** One process without authentication or message bus; waits as short as they can be. */
async function configure(
  folder: string,
  port: number,
  settings: Readonly<Record<string, Record<string, string | number>>>,
): Promise<string> {
  const at = (name: string) => join(folder, name)
  const url = `http://127.0.0.1:${port}`
  const sections: Record<string, Record<string, string | number>> = {
    DEFAULT: {
      auth_strategy: 'noauth',
      rpc_transport: 'none',
      host: 'real-conductor',
      my_ip: '127.0.0.1',
      use_stderr: 'false',
      log_file: at('ironic.log'),
      state_path: at('state'),
      tempdir: at('tmp'),
      force_raw_images: 'false',
      enabled_hardware_types: 'fake-hardware',
      enabled_bios_interfaces: 'fake,no-bios',
      enabled_boot_interfaces: 'fake',
      enabled_console_interfaces: 'fake',
      enabled_deploy_interfaces: 'custom-agent,direct,fake',
      enabled_firmware_interfaces: 'fake,no-firmware',
      enabled_inspect_interfaces: 'agent,fake,no-inspect',
      enabled_management_interfaces: 'fake',
      enabled_network_interfaces: 'noop',
      enabled_power_interfaces: 'fake',
      enabled_raid_interfaces: 'agent,fake,no-raid',
      enabled_rescue_interfaces: 'agent,fake,no-rescue',
      enabled_storage_interfaces: 'noop',
      enabled_vendor_interfaces: 'no-vendor,fake',
      default_network_interface: 'noop',
      default_storage_interface: 'noop',
      default_deploy_interface: 'custom-agent',
      default_inspect_interface: 'agent',
      default_vendor_interface: 'no-vendor',
    },
    // Agents heartbeat after 0.3 to 0.6 of this; Ironic drops those that meet its lock, and the next one counts.
    api: { host_ip: '127.0.0.1', port, api_workers: 1, ramdisk_heartbeat_timeout: 10 },
    database: { connection: `sqlite:///${at('ironic.sqlite')}` },
    conductor: {
      automated_clean: 'true',
      heartbeat_interval: 10,
      heartbeat_timeout: 60,
      sync_power_state_interval: 0,
      check_provision_state_interval: 5,
      graceful_shutdown_timeout: 2,
      enable_mdns: 'false',
    },
    agent: {
      require_tls: 'true',
      verify_ca: 'True',
      command_wait_interval: 1,
      certificates_path: at('certs'),
      post_deploy_get_power_state_retries: 2,
      post_deploy_get_power_state_retry_interval: 1,
      deploy_logs_collect: 'on_failure',
      deploy_logs_local_path: at('deploy-logs'),
    },
    deploy: {
      http_root: at('http'),
      http_url: `${url}/unused`,
      fast_track: 'false',
      default_boot_option: 'local',
      erase_devices_priority: 0,
      erase_devices_metadata_priority: 10,
    },
    dhcp: { dhcp_provider: 'none' },
    pxe: {
      tftp_root: at('tftp'),
      tftp_master_path: at('images/tftp-master'),
      images_path: at('images'),
      instance_master_path: at('images/instance-master'),
    },
    inspector: { require_managed_boot: 'false', power_off: 'true' },
    inventory: { data_backend: 'database' },
    service_catalog: { auth_type: 'none', endpoint_override: url },
    oslo_concurrency: { lock_path: at('lock') },
  }
  for (const [section, values] of Object.entries(settings)) Object.assign((sections[section] ??= {}), values)
  for (const name of ['state', 'tmp', 'certs', 'deploy-logs', 'http', 'tftp', 'images', 'lock'])
    await mkdir(at(name), { recursive: true })
  const text = Object.entries(sections).map(
    ([section, values]) =>
      `[${section}]\n${Object.entries(values)
        .map(([name, value]) => `${name} = ${value}\n`)
        .join('')}`,
  )
  await writeFile(at('ironic.conf'), text.join('\n'))
  return text.join('\n')
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + REAL_PEER_TIMEOUT
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`it ended (${child.exitCode})`)
    const response = await fetch(url, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
    if (response?.ok) return
    await sleep(10)
  }
  throw new Error(`no answer from ${url} in two minutes`)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit')
    child.kill('SIGTERM')
    await Promise.race([gone, sleep(10_000, undefined, { ref: false })])
  }
  signalGroup(child, 'SIGKILL')
}

/** The leader is a child of this process, so its id stays reserved while any process of the group lives. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // All of it is gone already.
  }
}
