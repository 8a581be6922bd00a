import { type Clock, errorChain, type Logger } from '../../base/runtime/index.js'
import type { SimulatedDisk } from '../disk/block-device.js'
import { findBootPlace, withBootPlace, type BootPlace } from '../disk/boot-place.js'
import type { BootVolume } from '../disk/boot-volume.js'
import { readLayout, type DiskLayout } from '../disk/disk-partitions.js'
import { findContainerRoot, NO_CONTAINER, type ContainerRoot } from './container-root.js'
import type { MachineSpec } from '../machine-spec.js'
import { bootedEntry } from '../os/loader-entries.js'
import type { ProgramMachine } from '../programs/machine-program.js'
import { MachineUnreachable } from '../ramdisk/ramdisk-session.js'

/** Partition type that each firmware boots from: the EFI system partition, or GRUB's second stage on GPT. */
const LOADER_PARTITION = {
  uefi: 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b',
  bios: '21686148-6449-6e6f-744e-656564454649',
} as const

export const FIRST_BOOT_FLAG = '/ignition.firstboot'
/** Where coreos-installer puts a config. */
export const IGNITION_FOLDER = '/ignition'
const CONFIG = `${IGNITION_FOLDER}/config.ign`

/** The config on a boot filesystem. */
export interface BootConfig {
  bytes: Uint8Array
  /** Permission bits of its file. */
  mode: number
}

/** An installed system that the firmware and boot loader found. */
export interface Bootable {
  device: SimulatedDisk
  /** Where its boot files are. */
  bootPlace: BootPlace
  /** Options of the boot loader entry that GRUB picks: the last one by name. */
  kernelArguments: string[]
  /** Title of that entry: the OS with its version. */
  title: string
  firstBoot: boolean
  /** Deployment of a bootable container; null for other systems. */
  container: ContainerRoot | null
  /** Null without one, and for a later boot. */
  config: BootConfig | null
  /** Number of the firmware's boot entry that was used; null when the firmware searched the disks itself. */
  efiEntry: string | null
}

/**
 * Searches as firmware and GRUB do before a kernel runs: UEFI tries the boot entries in their order and then every disk
 * in order, BIOS only the disks. A disk that cannot be read is skipped.
 */
export async function findBootable(
  spec: MachineSpec,
  disks: ReadonlyMap<string, SimulatedDisk>,
  efi: ProgramMachine['efi'],
  { clock, logger }: { clock: Clock; logger: Logger },
): Promise<Bootable | undefined> {
  const layouts = new Map<SimulatedDisk, DiskLayout | undefined>()
  const layoutOf = async (device: SimulatedDisk) => {
    if (!layouts.has(device)) layouts.set(device, await unlessUnreadable(() => readLayout(device)))
    return layouts.get(device)
  }
  const unlessUnreadable = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      // The power is off, so there is no next disk to try.
      if (error instanceof MachineUnreachable) throw error
      logger('warn', `${spec.id} passes over a disk: ${errorChain(error).join(': ')}`)
      return undefined
    }
  }

  for (const { device, guid, entry } of bootCandidates(spec, disks, efi)) {
    const layout = await layoutOf(device)
    const loader = layout?.partitions.find(({ gpt }) => gpt?.type === LOADER_PARTITION[spec.firmware])
    const bootPlace = findBootPlace(layout?.partitions ?? [])
    if (!layout || !loader || !bootPlace) continue
    if (guid !== null && !layout.partitions.some(({ gpt }) => gpt?.guid === guid)) continue
    const system = await unlessUnreadable(() => withBootPlace(device, bootPlace, clock, readSystem, { readOnly: true }))
    if (!system) continue
    const { kernelArguments } = system
    const found = await unlessUnreadable(() => findContainerRoot(device, layout, kernelArguments, clock))
    if (found === undefined) continue
    const container = found === NO_CONTAINER ? null : found
    const firstBoot = container?.isFirstBoot ?? system.firstBoot
    return { device, bootPlace, efiEntry: entry, ...system, firstBoot, container }
  }
  return undefined
}

function* bootCandidates(spec: MachineSpec, disks: ReadonlyMap<string, SimulatedDisk>, efi: ProgramMachine['efi']) {
  if (spec.firmware === 'uefi')
    for (const number of efi.order) {
      const entry = efi.entries.find((candidate) => candidate.number === number)
      const guid = /^HD\(\d+,GPT,([0-9a-f-]{36})/i.exec(entry?.path ?? '')?.[1]?.toLowerCase()
      if (entry?.active && guid !== undefined)
        for (const device of disks.values()) yield { device, guid, entry: number }
    }
  for (const device of disks.values()) yield { device, guid: null, entry: null }
}

async function readSystem(volume: BootVolume) {
  const entry = await bootedEntry(volume)
  if (!entry) return undefined
  const firstBoot = await volume.exists(FIRST_BOOT_FLAG)
  const config = firstBoot && (await volume.exists(CONFIG)) ? await readBootConfig(volume) : null
  return { kernelArguments: entry.options, title: entry.title, firstBoot, config }
}

async function readBootConfig(volume: BootVolume): Promise<BootConfig> {
  // A copy: a short Buffer is part of one of eight KiB, and a running system keeps it.
  const bytes = new Uint8Array(await volume.read(CONFIG))
  const { mode } = await volume.stat(CONFIG)
  return { bytes, mode }
}
