import { createHash } from 'node:crypto'
import { errorChain, type Clock, type Random } from '../runtime/index.js'
import { parseIgnition, readIgnition, summarizeIgnition } from '../ignition/index.js'
import { FIRST_BOOT_FLAG, type Bootable } from './bootable.js'
import { withBootVolume } from './disk/boot-volume.js'
import { setUpGpt } from './disk/gpt-setup.js'
import type { FirstBoot } from './machine.js'

/**
 * Boots an installed system: on its first boot the partition table is made the disk's own, Ignition reads its config
 * from the boot partition, and the OS deletes the flag that made this the first boot. With a config that Ignition refuses the machine stays in the emergency shell
 * and the flag stays, so the next boot tries again.
 *
 * @param keep called with the report before the flag goes, so that neither can be lost alone
 */
export async function bootFromDisk(
  bootable: Bootable,
  { clock, random }: { clock: Clock; random: Random },
  keep: (report: FirstBoot) => Promise<void>,
): Promise<void> {
  if (!bootable.firstBoot) return
  await setUpGpt(bootable.device, random)
  const report = firstBootReport(bootable)
  await keep(report)
  if (report.failure !== null) return
  await withBootVolume(bootable.device, bootable.bootOffset, clock, (volume) => volume.remove(FIRST_BOOT_FLAG))
  await bootable.device.flush()
}

/** Without a config, or with an empty one, Ignition applies its base config alone: nobody can log in, but that is no failure. */
export function firstBootReport({ config, device, kernelArguments }: Bootable): FirstBoot {
  const found = {
    configDigest: config && createHash('sha256').update(config).digest('hex'),
    kernelArguments,
    disk: `/dev/${device.name}`,
  }
  const nothing = { ignitionVersion: null, hostname: null, users: [], files: [], units: [], failure: null }
  if (!config?.length) return { ...nothing, ...found }
  try {
    const { version, ...summary } = summarizeIgnition(parseIgnition(config))
    readIgnition(config)
    return { ignitionVersion: version, ...summary, ...found, failure: null }
  } catch (error) {
    return { ...nothing, ...found, failure: errorChain(error).join(': ') }
  }
}
