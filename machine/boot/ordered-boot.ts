import type { BootOverride } from '../hardware/boot-override.js'
import { NO_NETWORK } from '../live/boot-network.js'
import type { LiveMedium, LiveOutcome } from '../live/live-boot.js'
import type { BootState } from '../machine-record.js'
import type { BootingMachine } from '../machine-parts.js'
import { bootOverNetwork } from '../network/boot-over-network.js'
import type { FirmwareFacts } from '../network/ipxe-settings.js'
import type { ScriptEnd } from '../network/ipxe.js'
import { systemUuid } from '../ramdisk/ramdisk-tree.js'
import { bootAttempts } from './boot-order.js'
import { bootDisk, type DiskBootEnd } from './disk-boot.js'
import { loadMedium, selfTest } from './load-medium.js'

/** The end of a boot by its order. */
export type OrderedEnd =
  | { kind: 'medium'; outcome: Exclude<LiveOutcome, 'no bootable device'> }
  | { kind: 'disk'; end: DiskBootEnd }
  | { kind: 'nothing' }
  | { kind: 'power off' }

/**
 * Tries the device of the override and then the boot order, until one boots. The console and the BMC's log record why each earlier
 * device failed. Sets `state` to the source and the details of the device that booted.
 */
export async function bootInOrder(
  override: BootOverride | undefined,
  booting: BootingMachine,
  state: BootState,
  signal: AbortSignal,
): Promise<OrderedEnd> {
  const { machine, parts, console } = booting
  const { firmware } = machine
  const failures: string[] = []
  const noteFailure = (line: string): void => {
    failures.push(line)
    firmware.note('boot failed', line)
  }
  const failed = (from: string, why: string): void => {
    machine.say(`${from}: ${why}`)
    noteFailure(`${from}: ${why}`)
  }
  const tryMedium = async (from: string, medium: LiveMedium): Promise<OrderedEnd | undefined> => {
    const outcome = await loadMedium(medium, booting, state, signal)
    if (outcome !== 'no bootable device') {
      state.source = medium.kind === 'iso' ? { kind: 'iso', url: medium.url } : medium
      return { kind: 'medium', outcome }
    }
    // The console has the reason already.
    noteFailure(`${from}: ${state.live?.failure ?? outcome}`)
    return undefined
  }
  const tryDisks = async (): Promise<OrderedEnd | undefined> => {
    const end = await bootDisk(booting, signal)
    if (end.outcome === 'no bootable device') return undefined
    state.source = { kind: 'disk' }
    delete state.live
    return { kind: 'disk', end }
  }
  const { network = NO_NETWORK, clock } = parts
  const tryNetwork = async (nic: string, bootScript: string): Promise<OrderedEnd | undefined> => {
    await selfTest('ramdisk', booting, signal)
    const say = (line: string) => machine.say(line)
    const facts = factsOf(booting, nic)
    const end = await bootOverNetwork(bootScript, { network, clock, signal, say, facts })
    if (end.kind === 'power off') return { kind: 'power off' }
    if (end.kind === 'next') return void failed('PXE', end.why)
    if (end.kind !== 'disk') return tryMedium('PXE', mediumOf(end))
    const booted = await tryDisks()
    if (!booted) failed('PXE', 'the boot script chooses the disks, which have no bootable system')
    return booted
  }
  for (const attempt of bootAttempts(override, machine, network.bootScript)) {
    let end: OrderedEnd | undefined
    if (attempt.kind === 'setup') {
      failed('BIOS', `the machine stays in ${attempt.what}, as its BMC was asked to`)
      break
    } else if (attempt.kind === 'nothing') {
      failed(attempt.from, attempt.why)
    } else if (attempt.kind === 'medium') {
      await selfTest('ramdisk', booting, signal)
      if (attempt.from === 'virtual CD') await firmware.hold()
      end = await tryMedium(attempt.from, attempt.medium)
    } else if (attempt.kind === 'network') end = await tryNetwork(attempt.nic, attempt.bootScript)
    else {
      await selfTest('disk', booting, signal)
      end = await tryDisks()
      if (!end) failed('disk', 'no bootable system')
    }
    if (end) return end
  }
  state.live = {
    kernelArguments: '',
    ignition: null,
    files: [],
    agent: null,
    console,
    failure: failures.length > 0 ? failures.join('; ') : 'no device of the boot order has anything to boot',
  }
  return { kind: 'nothing' }
}

const mediumOf = (end: ScriptEnd & { kind: 'kernel' | 'iso' }): LiveMedium =>
  end.kind === 'iso' ? end : { kind: 'pxe', kernel: end.kernel, ramdisk: end.ramdisk, append: end.append }

/** Facts that a boot script may ask for; `nic` is the NIC that boots. */
function factsOf({ machine, record }: BootingMachine, nic: string): FirmwareFacts {
  const { spec } = machine
  const { nics, serial, manufacturer, product, architecture } = spec
  const boots = ({ name }: (typeof nics)[number]): boolean => name === nic
  const ordered = [...nics.filter(boots), ...nics.filter((one) => !boots(one))]
  return {
    macs: ordered.map(({ mac }) => mac),
    platform: record.asBooted().firmware === 'uefi' ? 'efi' : 'pcbios',
    architecture,
    serial,
    manufacturer,
    product,
    uuid: systemUuid(spec),
  }
}
