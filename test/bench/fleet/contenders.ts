import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '../../../base/wire/index.js'
import { FleetProcess } from '../../kit/fleet/fleet-process.js'
import { freePort } from '../../real/free-port.js'
import { pythonPeer } from '../../real/peers.js'
import { clock } from '../measure.js'

/** Machines that an Ironic can work. */
export interface Contender extends AsyncDisposable {
  readonly name: string
  /** Fields of the node of each machine, with its ports. */
  readonly nodes: readonly (JsonObject & { ports: { address: string }[] })[]
  /** The processes that act as machines, without what they have started. */
  readonly pids: readonly number[]
}

/** Seconds of a boot of a ramdisk: an agent that calls before Ironic waits for it is refused, and a busy Ironic is slow. */
const BOOT_TIME = 30

/** The Ironic that works the machines. */
export interface Worker {
  url: string
  /** Boot script that its iPXE boot interface leaves. */
  bootScript: string
}

/** `ironstage fleet`, whose machines boot over the network. */
export async function fleetContender(count: number, { bootScript }: Pick<Worker, 'bootScript'>): Promise<Contender> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-bench-'))
  const file = join(folder, 'nodes.json')
  const fleet = await FleetProcess.start([
    '--count',
    String(count),
    '--redfish-port',
    '0',
    '--hosts-out',
    file,
    '--boot-time',
    `${BOOT_TIME}s`,
    '--boot-interface',
    'ipxe',
    '--ipxe-url',
    bootScript,
  ])
  const { nodes } = JSON.parse(await readFile(file, 'utf8')) as { nodes: Contender['nodes'] }
  return {
    name: 'ironstage fleet',
    nodes,
    pids: [fleet.pid],
    [Symbol.asyncDispose]: async () => {
      await fleet[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const PINNED = fileURLToPath(
  new URL('../../real/peers/emulators.txt', import.meta.url.replace('/dist/test/', '/test/')),
)

/**
 * sushy-tools' emulator with its fake driver, and fake-ipa, which it notifies. Its machines boot over the network too: by
 * virtual media Ironic hands the agent's token over on the ISO, which fake-ipa does not see. fake-ipa is on no package registry: the
 * variable `FAKE_IPA` names its folder in a checkout of metal3-io/utility-images.
 */
export async function emulatorContender(count: number, { url: ironicUrl }: Worker): Promise<Contender> {
  const source = process.env['FAKE_IPA'] ?? ''
  if (!existsSync(join(source, 'fake_ipa/main.py')))
    throw new Error(
      'fake-ipa is on no package registry: clone https://github.com/metal3-io/utility-images, and set FAKE_IPA to the path of its folder fake-ipa',
    )
  const venv = await pythonPeer(PINNED)
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-bench-'))
  const port = await freePort()
  const agents = await freePort()
  const systems = Array.from({ length: count }, (_, index) => {
    const digits = index.toString(16).padStart(12, '0')
    const mac = `00:5c:52:${digits.slice(6).replace(/..(?=.)/g, '$&:')}`
    return { uuid: `27946b59-9e44-4fa7-8e91-${digits}`, name: `fake${index + 1}`, mac }
  })
  const python = (value: unknown): string =>
    JSON.stringify(value).replaceAll(/\b(true|false)\b/g, (word) => word[0]!.toUpperCase() + word.slice(1))
  await writeFile(
    join(folder, 'emulator.py'),
    [
      'SUSHY_EMULATOR_LISTEN_IP = "127.0.0.1"',
      `SUSHY_EMULATOR_LISTEN_PORT = ${port}`,
      'SUSHY_EMULATOR_FAKE_DRIVER = True',
      `SUSHY_EMULATOR_STATE_DIR = "${folder}"`,
      `EXTERNAL_NOTIFICATION_URL = "http://127.0.0.1:${agents}"`,
      `SUSHY_EMULATOR_FAKE_SYSTEMS = ${python(
        systems.map(({ uuid, name, mac }) => ({
          uuid,
          name,
          power_state: 'Off',
          external_notifier: true,
          nics: [{ mac, ip: '192.0.2.1' }],
        })),
      )}`,
    ].join('\n'),
  )
  await writeFile(
    join(folder, 'agents.py'),
    [
      `FAKE_IPA_API_URL = "${ironicUrl}"`,
      `FAKE_IPA_INSPECTION_CALLBACK_URL = "${ironicUrl}/v1/continue_inspection"`,
      'FAKE_IPA_ADVERTISE_ADDRESS_IP = "127.0.0.1"',
      `FAKE_IPA_ADVERTISE_ADDRESS_PORT = ${agents}`,
      'SUSHY_FAKE_IPA_LISTEN_IP = "127.0.0.1"',
      `SUSHY_FAKE_IPA_LISTEN_PORT = ${agents}`,
      `FAKE_IPA_MIN_BOOT_TIME = ${BOOT_TIME}`,
      `FAKE_IPA_MAX_BOOT_TIME = ${BOOT_TIME}`,
      `FAKE_IPA_REDFISH_URL = "http://127.0.0.1:${port}"`,
      'FAKE_IPA_INSECURE = True',
    ].join('\n'),
  )
  const log = openSync(join(folder, 'log'), 'a')
  const start = (...argv: string[]): ChildProcess =>
    spawn(join(venv, 'bin/python'), argv, {
      cwd: folder,
      stdio: ['ignore', log, log],
      detached: true,
      env: { ...process.env, PYTHONPATH: source },
    })
  const children = [
    start(join(venv, 'bin/sushy-emulator'), '--config', join(folder, 'emulator.py')),
    start('-m', 'fake_ipa.main', '--config', join(folder, 'agents.py')),
  ]
  closeSync(log)
  const self: Contender = {
    name: 'sushy-tools and fake-ipa',
    nodes: systems.map(({ uuid, name, mac }) => ({
      name,
      driver: 'redfish',
      boot_interface: 'ipxe',
      driver_info: { redfish_address: `http://127.0.0.1:${port}`, redfish_system_id: `/redfish/v1/Systems/${uuid}` },
      ports: [{ address: mac }],
    })),
    pids: children.map(({ pid }) => pid!),
    [Symbol.asyncDispose]: async () => {
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        const gone = once(child, 'exit')
        // Flask's debug server has a child of its own, in the same group.
        process.kill(-child.pid!, 'SIGKILL')
        await gone
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
  try {
    for (const url of [`http://127.0.0.1:${port}/redfish/v1/`, `http://127.0.0.1:${agents}/none/`])
      await answering(url, async () => readFile(join(folder, 'log'), 'utf8'))
    return self
  } catch (error) {
    await self[Symbol.asyncDispose]()
    throw error
  }
}

async function answering(url: string, log: () => Promise<string>): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (await fetch(url).catch(() => undefined)) return
    await clock.sleep(100)
  }
  throw new Error(`no answer from ${url}:\n${(await log()).slice(-3000)}`)
}
