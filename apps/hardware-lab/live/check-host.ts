import { parseSize, UserError } from '../../../base/runtime/index.js'
import type { RealTarget } from '../../runs/index.js'
import { listBlockDevices, readHardware, readPartitions } from '../../../steps/index.js'
import type { Inventory } from '../../../base/wire/index.js'
import type { Host } from '../hosts/host.js'
import type { HostContext } from '../pipeline/context.js'
import type { HostFacts, KnownHost } from '../pipeline/run-state.js'

/**
 * Looks at a host without writing: that its disk is there and nothing uses it, that it has the hardware that the file
 * expects, and that it is the machine of the run before.
 *
 * @throws UserError `disk-in-use`, `hardware-unexpected`, `hardware-changed`
 */
export async function checkHost(context: HostContext, signal: AbortSignal): Promise<'done'> {
  const { host, state, access } = context
  await access.ignition(host, signal)
  await using on = await access.openTarget(host, { readOnly: true, signal })
  const { ssh } = on
  if (ssh) state.live = { identity: { ...ssh.shell.identity }, hostKey: ssh.shell.hostKey }
  const facts = await factsOf(host, on, state.facts)
  Object.assign(state.facts, facts)
  if (on.disk.inUse !== null)
    throw new UserError('disk-in-use', `${host.name} is not touched: ${on.disk.inUse}`, {
      remedy: 'unmount, stop or remove what uses the disk; nothing that is in use is ever written',
    })
  await refuseUnexpected(host, state.facts, async () => (await readHardware(on.target)).inventory)
  await refuseChanged(context)
  return 'done'
}

/**
 * Refuses a host that is another machine than in the run before, and remembers the one that it is.
 *
 * @throws UserError `hardware-changed`
 */
export async function refuseChanged({ host, state, folder }: HostContext): Promise<void> {
  const known = await folder.known(host.name)
  if (known) refuseOther(host.name, known, state.facts, folder.knownFile(host.name))
  await folder.remember(host.name, state.facts)
}

/** Size and model, as lsblk has it, of a disk that is named by its place, where another may be plugged in; null for any other. */
export const diskAtPlace = (
  { disk }: Pick<Host, 'disk'>,
  { size, model }: { size: number; model?: string | null },
): string | null => (disk['by-path'] === undefined ? null : [`${size} bytes`, model?.trim()].filter(Boolean).join(', '))

async function factsOf(host: Host, on: RealTarget, before: HostFacts): Promise<Partial<HostFacts>> {
  const { target, disk } = on
  const devices = await listBlockDevices(target)
  const device = devices.find(({ name }) => name === disk.path)
  // The serial number of a loop device is one of this session.
  const isLoop = /^\/dev\/loop\d+$/.test(disk.path)
  const { type, partitions } = await readPartitions(target, disk.path)
  const dmi = async (name: string): Promise<string | null> => {
    const bytes = await target.executor.files.read(`/sys/class/dmi/id/${name}`).catch(() => new Uint8Array())
    return Buffer.from(bytes).toString('utf8').trim() || null
  }
  return {
    systemSerial: before.systemSerial ?? (await dmi('product_serial')),
    product: before.product ?? (await dmi('product_name')),
    diskPath: disk.path,
    diskModel: disk.model,
    diskSize: disk.size,
    diskAtPlace: diskAtPlace(host, { size: disk.size, model: device?.model ?? null }),
    diskSerial: isLoop ? null : (device?.serial ?? null),
    diskWwn: isLoop ? null : (device?.wwn ?? null),
    contents:
      type === null
        ? []
        : partitions.map(({ name, filesystem, label }) =>
            [name, filesystem ?? 'no file system', label === null ? '' : `"${label}"`].join(' ').trim(),
          ),
  }
}

/** Hardware that is compared with the file besides the facts. */
type Hardware = Pick<Inventory, 'cpu' | 'memory' | 'interfaces'>

/**
 * Compares hardware with what the file expects.
 *
 * @throws UserError `hardware-unexpected`
 */
export async function refuseUnexpected(
  { name, expect = {}, macs = [] }: Host,
  facts: HostFacts,
  hardware: () => Promise<Hardware>,
): Promise<void> {
  const wrong: string[] = []
  const { serial, product, cpus, memory, 'disk-size': diskSize, 'disk-model': diskModel } = expect
  if (serial !== undefined && facts.systemSerial !== serial)
    wrong.push(`its serial number is ${facts.systemSerial ?? 'unknown'} instead of ${serial}`)
  if (product !== undefined && !(facts.product ?? '').includes(product))
    wrong.push(`it is a ${facts.product ?? 'machine without a name'} instead of a ${product}`)
  if (diskSize !== undefined && (facts.diskSize ?? 0) < parseSize(String(diskSize)))
    wrong.push(`its disk has ${facts.diskSize} bytes, which is less than ${diskSize}`)
  if (diskModel !== undefined && !(facts.diskModel ?? '').includes(diskModel))
    wrong.push(`its disk is a ${facts.diskModel ?? 'disk without a model'} instead of a ${diskModel}`)
  if (cpus !== undefined || memory !== undefined || macs.length > 0) {
    const inventory = await hardware()
    if (cpus !== undefined && inventory.cpu.count < cpus)
      wrong.push(`it has ${inventory.cpu.count} processors instead of ${cpus}`)
    const bytes = (inventory.memory.physical_mb ?? 0) * 2 ** 20 || inventory.memory.total || 0
    if (memory !== undefined && bytes < parseSize(String(memory)))
      wrong.push(`it has ${Math.round(bytes / 2 ** 20)} MiB of memory, which is less than ${memory}`)
    const there = inventory.interfaces.map(({ mac_address: mac }) => mac.toLowerCase())
    const missing = macs.filter((mac) => !there.includes(mac.toLowerCase()))
    if (missing.length > 0) wrong.push(`it has no network card with ${missing.join(' and ')}, but ${there.join(', ')}`)
  }
  if (wrong.length > 0)
    throw new UserError('hardware-unexpected', `${name} is not touched: ${wrong.join('; ')}`, {
      remedy: 'correct the file, or find out which machine answers there',
    })
}

const IDENTITY_LABELS = {
  systemSerial: 'serial number of the system',
  bmcSerial: 'serial number of the BMC',
  diskSerial: 'serial number of the disk',
  diskWwn: 'WWN of the disk',
  diskAtPlace: 'disk at its place',
} as const satisfies Record<keyof KnownHost, string>

function refuseOther(name: string, known: KnownHost, now: HostFacts, file: string): void {
  const changed = (Object.keys(IDENTITY_LABELS) as (keyof KnownHost)[]).filter(
    // A file of an older version lacks newer keys.
    (key) => (known[key] ?? null) !== null && now[key] !== null && known[key] !== now[key],
  )
  if (changed.length === 0) return
  const how = changed.map((key) => `the ${IDENTITY_LABELS[key]} is ${now[key]}, and was ${known[key]}`)
  throw new UserError('hardware-changed', `${name} is not touched: ${how.join('; ')}`, {
    remedy: `find out which machine answers there; with new hardware on purpose, remove ${file}`,
  })
}
