import { seconds } from '../../base/runtime/index.js'
import type { SpecConfig, SpecFilesystem, SpecLuks, SpecRaid } from '../../ignition/index.js'
import type { Device } from './devices.js'
import type { DisksWork } from './disk-plan.js'
import { goQuoted, IgnitionFailure } from './ignition-log.js'
import { planPartitions } from './partition-plan.js'
import { prefixFailures } from './users.js'

/** systemd's timeout for a device (DefaultDeviceTimeoutSec). */
export const BLOCK_DEVICE_TIMEOUT = seconds(90)
/** Least number of member devices of each RAID level. */
const MIN_RAID_DEVICES: Record<string, number> = {
  raid1: 2,
  raid4: 2,
  raid5: 2,
  raid6: 4,
  raid10: 2,
  raid0: 1,
  linear: 1,
}

/** Plans partitions, arrays, encrypted volumes and filesystems, each on top of those before it. */
export async function planDisks(work: DisksWork, storage: NonNullable<SpecConfig['storage']>): Promise<void> {
  const { disks = [], raid = [], luks = [], filesystems = [] } = storage
  const { log } = work
  if (disks.length > 0)
    await prefixFailures('create partitions failed')(() =>
      log.within('createPartitions', async () => {
        await waitFor(
          work,
          disks.map(({ device }) => device!),
          'disks',
        )
        for (const disk of disks)
          await log.operation(`partitioning ${goQuoted(alias(disk.device!))}`, () => planPartitions(work, disk))
      }),
    )
  if (raid.length > 0)
    await prefixFailures('failed to create raids')(() =>
      log.within('createRaids', async () => {
        await waitFor(
          work,
          raid.flatMap(({ devices = [] }) => devices),
          'raids',
        )
        for (const array of raid) await planRaid(work, array)
      }),
    )
  if (luks.length > 0)
    await prefixFailures('failed to create luks')(() =>
      log.within('createLuks', async () => {
        await waitFor(
          work,
          luks.map(({ device }) => device!),
          'luks',
        )
        for (const volume of luks) await planLuks(work, volume)
      }),
    )
  if (filesystems.length > 0)
    await prefixFailures('failed to create filesystems')(() =>
      log.within('createFilesystems', async () => {
        await waitFor(
          work,
          filesystems.map(({ device }) => device!),
          'filesystems',
        )
        for (const filesystem of filesystems) await planFilesystem(work, filesystem)
      }),
    )
}

const alias = (device: string): string => `/run/ignition/dev_aliases${device}`

async function waitFor({ devices, clock, signal, log }: DisksWork, paths: string[], what: string): Promise<void> {
  await prefixFailures(`failed to wait on ${what} devs`)(() =>
    log.operation(`waiting for devices [${paths.join(' ')}]`, async () => {
      const missing = paths.find((path) => !devices.find(path))
      if (missing === undefined) return
      await clock.sleep(BLOCK_DEVICE_TIMEOUT, { signal })
      const unit = `${missing.replace(/^\//, '').replaceAll('-', '\\x2d').replaceAll('/', '-')}.device`
      throw new IgnitionFailure(`device unit ${unit} timeout`)
    }),
  )
  for (const path of paths)
    log.line(
      'info',
      `created device alias for ${goQuoted(path)}: ${goQuoted(alias(path))} -> ${goQuoted(`/dev/${devices.find(path)!.name}`)}`,
    )
}

async function planRaid({ devices, log, plan }: DisksWork, array: SpecRaid): Promise<void> {
  const { name = '', level = '', devices: members = [], spares = 0 } = array
  const active = members.length - spares
  const path = name.startsWith('/dev') ? name : `/dev/md/${name}`
  await prefixFailures('mdadm failed')(() =>
    log.operation(`creating ${goQuoted(name)}`, () => {
      const fewest = MIN_RAID_DEVICES[/^\d+$/.test(level) ? `raid${level}` : level] ?? 1
      if (active < fewest)
        throw new IgnitionFailure(`exit status 2: mdadm: at least ${fewest} raid-devices needed for level ${level}`)
    }),
  )
  const found = members.map((member) => devices.find(member)!)
  const signature = { type: 'linux_raid_member', label: name, uuid: null }
  for (const member of found) devices.overwrite(member, signature)
  const [first] = found as [Device]
  const smallest = Math.min(...found.map(({ size }) => size))
  devices.add({ ...first, name: path.replace(/^\/dev\//, ''), size: smallest, signature: null, layout: null })
  plan.push({ section: 'raid', device: path, what: `create a ${level} of ${members.join(', ')}, ${spares} spare` })
}

async function planLuks({ devices, log, plan }: DisksWork, volume: SpecLuks): Promise<void> {
  const { name = '', device = '', wipeVolume } = volume
  const found = devices.find(device)!
  if (!wipeVolume) {
    await log.operation(`determining volume type of ${goQuoted(device)}`, () => {})
    const { type = '', label, uuid } = found.signature ?? {}
    log.line(
      'info',
      `found ${type} at ${goQuoted(device)} with uuid ${goQuoted(uuid ?? '')} and label ${goQuoted(label ?? '')}`,
    )
    if (type !== '') {
      log.line(
        'err',
        `volume at ${goQuoted(device)} is not of the correct type (found ${type}) and a volume wipe was not requested`,
      )
      throw new IgnitionFailure('volume is not of the correct type')
    }
  }
  devices.overwrite(found, { type: 'crypto_LUKS', label: volume.label ?? null, uuid: volume.uuid ?? null })
  devices.add({ ...found, name: `mapper/${name}`, signature: null, layout: null })
  plan.push({
    section: 'luks',
    device,
    what: `encrypt as /dev/mapper/${name}${volume.clevis ? ', unlocked by clevis' : ''}`,
  })
}

async function planFilesystem({ devices, log, plan }: DisksWork, filesystem: SpecFilesystem): Promise<void> {
  const { device = '', format, wipeFilesystem, label, uuid } = filesystem
  if (format === undefined) return
  const found = devices.find(device)!
  const { type = '', label: oldLabel = '', uuid: oldUuid = '' } = found.signature ?? {}
  await log.operation(`determining filesystem type of ${goQuoted(device)}`, () => {})
  const names = `uuid ${goQuoted(oldUuid ?? '')} and label ${goQuoted(oldLabel ?? '')}`
  log.line('info', `found ${type} filesystem at ${goQuoted(device)} with ${names}`)
  if (!wipeFilesystem) {
    const wanted = format === 'none' ? '' : format
    const plain = (value: string | null | undefined) => (value ?? '').toLowerCase().replace(/-/g, '')
    if (
      type === wanted &&
      (label === undefined || oldLabel === label) &&
      (uuid === undefined || plain(uuid) === plain(oldUuid))
    )
      return log.line('info', `filesystem at ${goQuoted(device)} is already correctly formatted. Skipping mkfs...`)
    if (type !== '') {
      log.line(
        'err',
        `filesystem at ${goQuoted(device)} is not of the correct type, label, or UUID (found ${type}, ${goQuoted(oldLabel ?? '')}, ${oldUuid ?? ''}) and a filesystem wipe was not requested`,
      )
      throw new IgnitionFailure('filesystem is not of the correct type')
    }
  }
  devices.overwrite(found, format === 'none' ? null : { type: format, label: label ?? null, uuid: uuid ?? null })
  plan.push({ section: 'filesystems', device, what: `make a filesystem of type ${format}` })
}
