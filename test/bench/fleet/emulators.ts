import { createHash } from 'node:crypto'
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import type { JsonObject } from '../../../base/wire/index.js'
import { rehearsalImage } from '../../kit/images/rehearsal-image.js'
import { fleetIronic, type FleetIronic } from '../../real/fleet-ironic.js'
import { memoryOf, processorTime, type Cells, type Outcome } from '../measure.js'
import type { Row } from '../rows.js'
import { emulatorContender, fleetContender, type Contender, type Worker } from './contenders.js'
import { Jobs } from './jobs.js'

const MACHINES = 10
/** How long an attempt may take, in milliseconds; Ironic itself waits half an hour for an agent. */
const EMULATOR_START_TIMEOUT = 120_000

interface Worked {
  name: string
  /** Milliseconds that each job took for all machines; without those that failed, which are attempts. */
  jobs: Map<string, number>
  memory: number
  /** Milliseconds of processor time. */
  processor: number
  /** The outcome of each attempt: null where it went well. */
  attempts: Map<string, string | null>
}

/** The same jobs by the same real Ironic, with a fleet, and with sushy-tools' emulator and fake-ipa. */
export async function besideEmulators(): Promise<Outcome> {
  const ours = await worked(fleetContender)
  const theirs = await worked(emulatorContender)
  const peer = (value: number) => ({ name: theirs.name, value })
  const row = (what: Row, unit: 'ms' | 'MiB', own: number, other: number | undefined) => ({
    what,
    ours: own,
    peer: other === undefined ? null : peer(other),
    reach: null,
    unit,
    runs: 1,
  })
  const job = (what: Row, name: string) => row(what, 'ms', ours.jobs.get(name) ?? NaN, theirs.jobs.get(name))
  const result = (why: string | null | undefined): string => (why === null ? 'yes' : `no: ${(why ?? '').slice(0, 300)}`)
  const cells: Cells = [
    ['with a real Ironic', ours.name, theirs.name],
    ...[...ours.attempts].map(([what, why]) => [what, result(why), result(theirs.attempts.get(what))]),
  ]
  return {
    rows: [
      job('10 machines verified by Ironic', 'verify'),
      job('10 machines inspected by their agents', 'inspect'),
      job('10 machines cleaned', 'clean'),
      job('10 machines deployed by direct', 'deploy'),
      job('10 machines undeployed', 'undeploy'),
      row('memory of what acts as these 10 machines', 'MiB', ours.memory, theirs.memory),
      row('processor time of that for these jobs', 'ms', ours.processor, theirs.processor),
    ],
    more: [cells],
  }
}

/** Works the machines of a contender. */
export async function worked(
  open: (count: number, worker: Worker) => Promise<Contender>,
  machines = MACHINES,
): Promise<Worked> {
  // fake-ipa has TLS only with a certificate that Ironic would have to trust.
  await using there = await fleetIronic({ agent: { require_tls: 'false' }, conductor: { automated_clean: 'false' } })
  await copyFile(REHEARSAL_IMAGE, join(there.folder, 'coreos.raw.xz'))
  const raw = await rehearsalImage()
  await writeFile(join(there.folder, 'disk.raw'), raw)
  await writeFile(join(there.folder, 'bios-1.5.0.bin'), 'firmware')
  await using contender = await open(machines, {
    url: there.ironic.url,
    bootScript: `${there.url}/boot.ipxe`,
  })
  const began = await usedBy(contender)
  const jobs = await Jobs.register(there.ironic, contender, {
    deploy_interface: 'direct',
    inspect_interface: 'agent',
    bios_interface: 'no-bios',
    firmware_interface: 'no-firmware',
    instance_info: imageOf(there, raw),
  })
  const times = new Map<string, number>()
  const attempts = new Map<string, string | null>()
  const time = async (name: string, ...work: Parameters<Jobs['all']>): Promise<void> => {
    try {
      times.set(name, await jobs.all(...work))
      attempts.set(`${name} all machines`, null)
    } catch (error) {
      attempts.set(`${name} all machines`, error instanceof Error ? error.message : String(error))
    }
    process.stderr.write(
      `  ${contender.name}: ${name}: ${attempts.get(`${name} all machines`) ?? times.get(name)} ms\n`,
    )
  }
  await time('verify', 'manage', 'manageable')
  await time('inspect', 'inspect', 'manageable')
  const steps = [{ interface: 'deploy', step: 'erase_devices_metadata' }]
  await time('clean', 'clean', 'manageable', { clean_steps: steps })
  if (!times.has('clean')) await jobs.recovered()
  await jobs.all('provide', 'available')
  await time('deploy', 'active', 'active')
  await time('undeploy', 'deleted', 'available')
  const processor = (await usedBy(contender)) - began
  let memory = 0
  for (const pid of contender.pids) memory += await memoryOf(pid)
  return {
    name: contender.name,
    jobs: times,
    memory,
    processor,
    attempts: await attempted(there, jobs, imageOf(there, raw), contender, attempts),
  }
}

async function usedBy({ pids }: Contender): Promise<number> {
  let used = 0
  for (const pid of pids) used += await processorTime(pid)
  return used
}

const imageOf = ({ url }: FleetIronic, raw: Uint8Array): JsonObject => ({
  image_source: `${url}/disk.raw`,
  image_os_hash_algo: 'sha256',
  image_os_hash_value: createHash('sha256').update(raw).digest('hex'),
  image_disk_format: 'raw',
})

/** Tries further work, each piece on a node of its own that is available. */
async function attempted(
  there: FleetIronic,
  jobs: Jobs,
  image: JsonObject,
  { name }: Contender,
  attempts: Map<string, string | null>,
): Promise<Map<string, string | null>> {
  const uuids = [...jobs.uuids]
  const attempt = async (what: string, work: (uuid: string) => Promise<void>, uuid = uuids.shift()!): Promise<void> => {
    const why = await work(uuid).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    process.stderr.write(`  ${name}: ${what}: ${why ?? 'yes'}\n`)
    attempts.set(what, why)
  }
  const change = (uuid: string, fields: JsonObject): Promise<unknown> =>
    jobs.ironic.done(
      200,
      'PATCH',
      `/v1/nodes/${uuid}`,
      Object.entries(fields).map(([field, value]) => ({ op: 'add', path: `/${field}`, value })),
    )
  const reaches = async (
    uuid: string,
    target: string,
    state: Parameters<Jobs['settled']>[1],
    more: JsonObject = {},
  ) => {
    await jobs.provision(uuid, target, more)
    await jobs.settled([uuid], state, EMULATOR_START_TIMEOUT)
  }
  const install = [
    { interface: 'deploy', step: 'install_coreos', priority: 80, args: { image_url: `${there.url}/coreos.raw.xz` } },
  ]
  await attempt(
    'an inventory with disks and memory',
    async (uuid) => {
      const { inventory } = (await jobs.ironic.done(200, 'GET', `/v1/nodes/${uuid}/inventory`)) as {
        inventory: { disks?: unknown[]; memory?: unknown }
      }
      if (!inventory.disks?.length || !inventory.memory) throw new Error(`it has ${Object.keys(inventory).join(', ')}`)
    },
    jobs.uuids[0],
  )
  await attempt('CoreOS by custom-agent and install_coreos', async (uuid) => {
    await change(uuid, { deploy_interface: 'custom-agent' })
    await reaches(uuid, 'active', 'active', { deploy_steps: install })
  })
  await attempt('an image with another checksum fails', async (uuid) => {
    await change(uuid, { instance_info: { ...image, image_os_hash_value: '0'.repeat(64) } })
    await jobs.provision(uuid, 'active')
    const ended = await Promise.race([
      jobs.settled([uuid], 'active', EMULATOR_START_TIMEOUT).then(() => 'active'),
      jobs.settled([uuid], 'deploy failed', EMULATOR_START_TIMEOUT).then(() => 'deploy failed'),
    ]).catch((error: unknown) => String(error))
    if (ended === 'active') throw new Error('the node became active')
    if (!ended.includes('deploy failed')) throw new Error(ended)
  })
  await attempt('rescue of a deployed machine', async (uuid) => {
    // Undeployment has removed it.
    await change(uuid, { instance_info: image })
    await reaches(uuid, 'active', 'active')
    await reaches(uuid, 'rescue', 'rescue', { rescue_password: 'a password' })
  })
  await attempt('inspection by Redfish', async (uuid) => {
    await change(uuid, { inspect_interface: 'redfish' })
    await reaches(uuid, 'manage', 'manageable')
    await reaches(uuid, 'inspect', 'manageable')
  })
  await attempt('a BIOS setting changed', async (uuid) => {
    await change(uuid, { bios_interface: 'redfish' })
    await reaches(uuid, 'manage', 'manageable')
    const settings = [{ name: 'ProcTurboMode', value: 'Disabled' }]
    await reaches(uuid, 'clean', 'manageable', {
      clean_steps: [{ interface: 'bios', step: 'apply_configuration', args: { settings } }],
    })
  })
  await attempt('firmware updated', async (uuid) => {
    await change(uuid, { firmware_interface: 'redfish' })
    await reaches(uuid, 'manage', 'manageable')
    const settings = [{ component: 'bios', url: `${there.url}/bios-1.5.0.bin` }]
    await reaches(uuid, 'clean', 'manageable', {
      clean_steps: [{ interface: 'firmware', step: 'update', args: { settings } }],
    })
  })
  await attempt(
    'a wrong password is refused',
    async (uuid) => {
      const { driver_info: info } = (await jobs.ironic.done(200, 'GET', `/v1/nodes/${uuid}`)) as {
        driver_info: JsonObject
      }
      const { status } = await fetch(`${String(info['redfish_address'])}${String(info['redfish_system_id'])}`, {
        headers: { authorization: `Basic ${Buffer.from('admin:wrong').toString('base64')}` },
      })
      if (status !== 401) throw new Error(`it was answered with ${status}`)
    },
    jobs.uuids[0],
  )
  return attempts
}
