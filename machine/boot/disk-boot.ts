import { randomUuid } from '../../base/runtime/index.js'
import { findBootable, type Bootable } from './bootable.js'
import { firstBoot, type DiskBoot } from './first-boot.js'
import type { BootingMachine } from '../machine-parts.js'
import { laterBoot } from '../os/later-boot.js'
import { SimulatorClosing } from '../ramdisk/ramdisk-session.js'

/** Outcome of a boot from disk, with the system that runs. */
export type DiskBootEnd =
  { outcome: 'disk'; system: Bootable } | { outcome: 'emergency shell' | 'no bootable device'; system?: never }

/** Boots from the disks, again each time the system reboots before it is up. */
export async function bootDisk(booting: BootingMachine, signal: AbortSignal): Promise<DiskBootEnd> {
  const { record } = booting
  const { clock, pace, random } = booting.parts
  try {
    for (;;) {
      const system = await findOnDisks(booting, signal)
      if (!system) return { outcome: 'no bootable device' }
      const outcome = await startSystem(system, booting, signal)
      if (outcome === 'up') return { outcome: 'disk', system }
      if (outcome !== 'reboot') return { outcome }
      signal.throwIfAborted()
      record.state.boot!.id = randomUuid(random)
      if (pace.bootDisk > 0) await clock.sleep(pace.bootDisk, { signal })
    }
  } finally {
    record.finishesFirstBoot = false
  }
}

/** @param signal ends access to the disks, also to that of the returned system */
export const findOnDisks = (booting: BootingMachine, signal: AbortSignal): Promise<Bootable | undefined> =>
  findBootable(booting.record.asBooted(), disksOfSystem(booting, signal), booting.record.state.efi, booting.parts)

/**
 * The disks, to which the system on the disk writes. When the process ends, an edit of a file system that has begun comes to
 * its end: only a loss of power may leave half of it.
 */
const disksOfSystem = ({ record, disks }: BootingMachine, signal: AbortSignal) => {
  const user = {
    signal,
    writer: 'system',
    get isOver() {
      return signal.aborted && !(signal.reason instanceof SimulatorClosing)
    },
  }
  return disks.forBoot(user, record.state.boot?.id ?? '')
}

async function startSystem(bootable: Bootable, booting: BootingMachine, signal: AbortSignal): Promise<DiskBoot> {
  const { machine, record, parts } = booting
  const { state, system } = record
  const { clock, random, probe, downloads, events } = parts
  const boot = state.boot!
  state.efi.current = bootable.efiEntry
  let outcome: DiskBoot = 'up'
  if (bootable.firstBoot) {
    const disks = disksOfSystem(booting, signal)
    const inputs = { spec: record.asBooted(), bootId: boot.id, disks, system, clock, random, probe, downloads, signal }
    outcome = await firstBoot(bootable, inputs, async (report) => {
      signal.throwIfAborted()
      record.finishesFirstBoot = true
      state.firstBoot = report
      boot.reported = true
      await record.persist()
    })
  } else laterBoot(bootable, system, clock)
  record.finishesFirstBoot = false
  // Also when an earlier process was killed after it stored the report and before it called the event.
  if (boot.reported && state.firstBoot) events.firstBoot?.(machine, state.firstBoot)
  return outcome
}
