import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesSource, serveFiles, writeIso } from '../../base/bytes/index.js'
import { silent, systemRandom } from '../../base/runtime/index.js'
import { IRONSTAGE } from '../kit/commands/up-process.js'
import { BenchClient } from './bench-client.js'
import { clock, memoryOf, processorTime, timed, type Measured } from './measure.js'
import { AGENT_HEARTBEAT_TIMEOUT, MAX_HEARTBEAT_DELAY, WaitingIronic } from './waiting-ironic.js'

const MACHINES = 10_000
const AGENTS = 5_000
/** How long idle agents are looked at, in milliseconds. */
const LOOKED_AT = 150_000
const PASSWORD = 'secret-password'
const FLEET_PARALLEL_CALLS = 32

/** A fleet: how soon thousands of machines are there, and what thousands of idle agents take, each on its own machine. */
export async function fleetOfThousands(): Promise<Measured[]> {
  const one = { peer: null, runs: 1 } as const
  const start = await timed(() => withFleet(MACHINES, () => Promise.resolve()))
  const idle = await idleAgents()
  return [
    { what: 'start of a fleet of 10,000 machines, and its end', ...one, ours: start, reach: 2000, unit: 'ms' },
    { what: 'Pss of a fleet with 5,000 idle agents', ...one, ours: idle.pss, reach: 150, unit: 'MiB' },
    { what: 'one core, taken by a fleet with 5,000 idle agents', ...one, ours: idle.share, reach: 10, unit: '%' },
    { what: 'heartbeats that these missed', ...one, ours: idle.missed, reach: 0, unit: '' },
  ]
}

interface FleetProcess {
  pid: number
  redfishUrl: string
}

/** Runs `ironstage fleet` as long as it is used. */
async function withFleet<T>(count: number, use: (fleet: FleetProcess) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-bench-'))
  const password = join(folder, 'password')
  await writeFile(password, PASSWORD)
  const child = spawn(
    process.execPath,
    [
      IRONSTAGE,
      'fleet',
      '--count',
      String(count),
      '--redfish-port',
      '0',
      '--json',
      '--password-file',
      password,
      '--boot-time',
      '0s',
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const gone = once(child, 'close')
  try {
    const lines = createInterface(child.stdout)
    const [line] = (await Promise.race([once(lines, 'line'), gone.then(() => ['{}'])])) as [string]
    const { redfish_url: redfishUrl } = JSON.parse(line) as { redfish_url?: string }
    if (redfishUrl === undefined) throw new Error('the fleet did not start')
    return await use({ pid: child.pid!, redfishUrl })
  } finally {
    child.kill('SIGTERM')
    await gone
    await rm(folder, { recursive: true, force: true })
  }
}

async function idleAgents(): Promise<{ pss: number; share: number; missed: number }> {
  await using ironic = await WaitingIronic.start({
    heartbeatTimeout: AGENT_HEARTBEAT_TIMEOUT,
    missedAfter: MAX_HEARTBEAT_DELAY,
  })
  await using server = await serveFiles({
    host: '127.0.0.1',
    port: 0,
    clock,
    random: systemRandom,
    logger: silent,
    find: () => ({
      source: bytesSource(medium(ironic.url)),
      etag: '"1"',
      modified: 0,
      type: 'application/octet-stream',
      close: () => Promise.resolve(),
    }),
  })
  return await withFleet(AGENTS, async ({ pid, redfishUrl }) => {
    using client = new BenchClient(redfishUrl, {
      authorization: `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`,
    })
    const boot = {
      BootSourceOverrideTarget: 'UefiHttp',
      BootSourceOverrideEnabled: 'Once',
      HttpBootUri: `${server.url}/boot.iso`,
    }
    let next = 1
    const work = async (): Promise<void> => {
      for (let number = next++; number <= AGENTS; number = next++) {
        const system = `/redfish/v1/Systems/machine-${number}`
        await client.ask('PATCH', system, { Boot: boot })
        await client.ask('POST', `${system}/Actions/ComputerSystem.Reset`, { ResetType: 'On' })
      }
    }
    await Promise.all(Array.from({ length: FLEET_PARALLEL_CALLS }, work))
    while ((await ironic.heard()).agents < AGENTS) await clock.sleep(200)
    // From here on they are idle, and V8 returns memory.
    await clock.sleep(MAX_HEARTBEAT_DELAY / 2)
    await ironic.heard()
    const usedBefore = await processorTime(pid)
    const since = performance.now()
    await clock.sleep(LOOKED_AT)
    const used = (await processorTime(pid)) - usedBefore
    const { missed } = await ironic.heard()
    return { pss: await memoryOf(pid), share: (used / (performance.now() - since)) * 100, missed }
  })
}

const medium = (ironicUrl: string): Buffer =>
  writeIso(
    {
      vmlinuz: Buffer.from('kernel'),
      initrd: Buffer.from('initramfs'),
      'EFI/BOOT/grub.cfg': Buffer.from(`linux /vmlinuz ipa-api-url=${ironicUrl} --\ninitrd /initrd\n`),
    },
    { label: 'VMEDIA_BOOT_ISO', at: 0 },
  )
