import { defined } from '../../base/runtime/index.js'
import type { Inventory, InventoryCpu, InventoryDisk } from '../../base/wire/index.js'
import type { Executor, Target } from '../../targets/index.js'
import { runToEnd } from '../sdk/run-command.js'
import { findBmc } from './find-bmc.js'
import { listBlockDevices, sysText, type BlockDevice } from './block-devices.js'
import { bootMode } from './boot-mode.js'
import { readHardwareTree } from './hardware-tree.js'
import { listInterfaces } from './interfaces.js'
import { programJson } from './program-json.js'

export interface CollectOptions {
  /** Already listed by the caller; otherwise they are listed now. */
  devices?: readonly BlockDevice[]
  /** `agent_skip_bmc_detect` of the lookup's answer. */
  skipBmc?: boolean
}

/**
 * Reads the hardware of a target, in the form in which the agent posts it to Ironic. A program or file that the target
 * lacks leaves its part empty; only the disks are required.
 */
export async function collectInventory(
  target: Target,
  { skipBmc = false, devices }: CollectOptions = {},
): Promise<Inventory> {
  const { executor } = target
  // The programs do not depend on each other: on a real target each takes a tenth of a second.
  const [hardware, bmc, interfaces, cpu, disks, total, mode, bootif, hostname] = await Promise.all([
    readHardwareTree(executor),
    skipBmc ? null : findBmc(executor),
    listInterfaces(executor),
    readCpu(executor),
    devices ?? listBlockDevices(target),
    totalMemory(executor),
    bootMode(executor),
    pxeInterface(executor),
    sysText(executor, '/proc/sys/kernel/hostname'),
  ])
  return {
    interfaces,
    cpu,
    disks: disks.map(inventoryDisk),
    memory: { total, physical_mb: hardware.memoryMib },
    bmc_address: bmc?.ipv4 ?? null,
    bmc_v6address: bmc?.ipv6 ?? null,
    system_vendor: hardware.vendor,
    boot: { current_boot_mode: mode, pxe_interface: bootif },
    hostname: hostname ?? '',
    ...defined({ bmc_mac: bmc?.mac ? bmc.mac : undefined }),
  }
}

/** A disk in inspection data, which has no UUIDs and no further names. */
export const inventoryDisk = (device: BlockDevice): InventoryDisk => ({
  name: device.name,
  model: device.model,
  size: device.size,
  rotational: device.rotational,
  wwn: device.wwn,
  serial: device.serial,
  vendor: device.vendor,
  wwn_with_extension: device.wwnWithExtension,
  wwn_vendor_extension: device.wwnVendorExtension,
  hctl: device.hctl,
  by_path: device.byPath,
  logical_sectors: device.logicalSectors,
  physical_sectors: device.physicalSectors,
  tran: device.transport,
})

/** `lscpu -J`: pairs of field and data, nested since util-linux 2.38. */
async function readCpu(executor: Executor): Promise<InventoryCpu> {
  const fields = lscpuFields((await runToEnd(executor, ['lscpu', '-J'], { effect: 'reads' })).stdout)
  const number = (field: string) => Number.parseInt(fields.get(field) ?? '', 10) || 0
  return {
    model_name: fields.get('model name') ?? '',
    frequency: fields.get('cpu max mhz') ?? fields.get('cpu mhz') ?? '',
    count: number('cpu(s)'),
    architecture: fields.get('architecture') ?? '',
    flags: (fields.get('flags') ?? '').split(/\s+/).filter((flag) => flag !== ''),
    socket_count: number('socket(s)'),
  }
}

function lscpuFields(json: string): Map<string, string> {
  const fields = new Map<string, string>()
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit)
    if (typeof value !== 'object' || value === null) return
    const { field, data, children, lscpu } = value as Record<string, unknown>
    // A hybrid machine lists several kinds of cores; the first counts.
    if (typeof field === 'string' && typeof data === 'string') {
      const name = field.replace(/:$/, '').toLowerCase()
      if (!fields.has(name)) fields.set(name, data)
    }
    visit(children)
    visit(lscpu)
  }
  visit(programJson(json))
  return fields
}

/** Memory that the kernel can use, in bytes. */
async function totalMemory(executor: Executor): Promise<number | null> {
  const kib = /^MemTotal:\s+(\d+) kB/m.exec((await sysText(executor, '/proc/meminfo')) ?? '')?.[1]
  return kib === undefined ? null : Number(kib) * 1024
}

async function pxeInterface(executor: Executor): Promise<string | null> {
  return /(?:^|\s)BOOTIF=(\S+)/.exec((await sysText(executor, '/proc/cmdline')) ?? '')?.[1] ?? null
}
