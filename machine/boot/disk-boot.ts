import { uuid } from '../../runtime/index.js'
import { findBootable, type Bootable } from './bootable.js'
import { firstBoot, type DiskBoot } from './first-boot.js'
import type { BootingMachine } from '../machine-parts.js'
import { laterBoot } from '../os/later-boot.js'

/** Where a boot from disk has got; the system is the one that is up. */
export type DiskBootEnd =
  { outcome: 'disk'; system: Bootable } | { outcome: 'emergency shell' | 'no bootable device'; system?: never }

/** Boots what is on the disks, once more each time the system there reboots before it is up. */
export async function bootDisk(booting: BootingMachine, signal: AbortSignal): Promise<DiskBootEnd> {
  const { kept } = booting
  const { clock, pace, random } = booting.parts
  for (;;) {
    const system = await findOnDisks(booting, signal)
    if (!system) return { outcome: 'no bootable device' }
    const came = await startSystem(system, booting, signal)
    if (came === 'up') return { outcome: 'disk', system }
    if (came !== 'reboot') return { outcome: came }
    signal.throwIfAborted()
    kept.state.boot!.id = uuid(random)
    if (pace.bootDisk > 0) await clock.sleep(pace.bootDisk, { signal })
  }
}

/** @param signal cuts the disks off, also those of the system that is found */
export const findOnDisks = ({ kept, parts }: BootingMachine, signal: AbortSignal): Promise<Bootable | undefined> =>
  findBootable(kept.asBooted(), parts.disks.forBoot(signal), kept.state.efi, parts)

async function startSystem(
  bootable: Bootable,
  { machine, kept, parts }: BootingMachine,
  signal: AbortSignal,
): Promise<DiskBoot> {
  const { state, system } = kept
  const { clock, random, probe, events } = parts
  const boot = state.boot!
  state.efi.current = bootable.efiEntry
  let came: DiskBoot = 'up'
  if (bootable.firstBoot) {
    const disks = parts.disks.forBoot(signal)
    const inputs = { spec: kept.asBooted(), bootId: boot.id, disks, system, clock, random, probe, signal }
    came = await firstBoot(bootable, inputs, async (report) => {
      signal.throwIfAborted()
      state.firstBoot = report
      boot.reported = true
      await kept.keep()
    })
  } else laterBoot(bootable, system, clock)
  // Also when an earlier process died between keeping the report and telling of it.
  if (boot.reported && state.firstBoot) events.firstBoot?.(machine, state.firstBoot)
  return came
}
