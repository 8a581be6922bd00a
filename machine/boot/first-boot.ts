import { createHash } from 'node:crypto'
import { errorChain, type Clock, type Probe, type Random } from '../../runtime/index.js'
import { parseIgnition, summarizeIgnition, type IgnitionConfig } from '../../ignition/index.js'
import { FIRST_BOOT_FLAG, type Bootable } from './bootable.js'
import type { BlockDevice } from '../disk/block-device.js'
import { withBootVolume } from '../disk/boot-volume.js'
import { setUpGpt } from '../disk/gpt-setup.js'
import type { ConfigSource } from '../ignition/config-acquisition.js'
import { Devices } from '../ignition/devices.js'
import { IGNITION_STAGES, runIgnition, type IgnitionOutcome } from '../ignition/run-ignition.js'
import type { FirstBoot } from '../machine.js'
import type { MachineSpec } from '../machine-spec.js'
import { baseDeployment, deployFiles } from '../os/deployments.js'
import type { InstalledSystem } from '../os/installed-system.js'
import { setArguments } from '../os/loader-entries.js'
import { wantedImage } from '../os/pivot.js'
import { presetUnits } from '../ignition/preset-units.js'
import { baseRoot } from '../root/base-root.js'

export interface FirstBootParts {
  spec: MachineSpec
  bootId: string
  disks: ReadonlyMap<string, BlockDevice>
  system: InstalledSystem
  clock: Clock
  random: Random
  probe: Probe
  signal: AbortSignal
}

/** What a boot from disk came to. After a change of kernel arguments the machine boots again by itself. */
export type DiskBoot = 'up' | 'emergency shell' | 'reboot'

/**
 * The first boot of an installed system: the partition table is made the disk's own, Ignition does what the config on
 * the boot partition says, systemd enables what Ignition left it to, and the flag that made this the first boot goes.
 * When Ignition fails the machine stays in the emergency shell and the flag stays, so the next boot tries again, from the
 * beginning.
 *
 * @param keep called with the report before the flag goes, so that neither can be lost alone
 */
export async function firstBoot(
  bootable: Bootable,
  parts: FirstBootParts,
  keep: (report: FirstBoot) => Promise<void>,
): Promise<DiskBoot> {
  const { spec, system, clock, random, probe, signal, disks, bootId } = parts
  const { device, bootOffset, config, kernelArguments } = bootable
  await setUpGpt(device, random)
  system.begin()
  const tree = baseRoot()
  const deployment = baseDeployment(bootable.title, kernelArguments)
  deployFiles(tree, null, deployment)
  const outcome = await runIgnition({
    ...{ machine: spec.id, bootId, tree, clock, probe, signal },
    source: sourceOf(bootable),
    devices: () => Devices.read(spec, disks, device.name),
    editKernelArguments: (edit) => withBootVolume(device, bootOffset, clock, (volume) => setArguments(volume, edit)),
    print: (stage, priority, message) => {
      const from = stage === null ? 'systemd[1]' : `ignition[${700 + 13 * IGNITION_STAGES.indexOf(stage)}]`
      system.print({ at: clock.now(), from, priority, message })
    },
  })
  if (outcome.reboot) {
    await device.flush()
    return 'reboot'
  }
  if (outcome.failure === null) {
    presetUnits(tree)
    const image = wantedImage(tree)
    const pivot = image === null ? null : { image, attempts: 0, lastError: null, state: 'pulling' as const }
    system.keepOs({ booted: deployment, staged: null, rollback: null, pivot, layers: [] })
  }
  system.keepTree(device.name, tree)
  await keep(firstBootReport(config, kernelArguments, `/dev/${device.name}`, outcome))
  if (outcome.failure !== null) return 'emergency shell'
  await withBootVolume(device, bootOffset, clock, (volume) => volume.remove(FIRST_BOOT_FLAG))
  await device.flush()
  return 'up'
}

/** The kernel's command line goes before the boot partition. */
function sourceOf({ config, kernelArguments }: Bootable): ConfigSource {
  const url = kernelArguments.findLast((argument) => argument.startsWith('ignition.config.url='))
  if (url !== undefined) return { from: 'cmdline', url: url.slice('ignition.config.url='.length) }
  return config && { from: 'system', bytes: config }
}

/** Without a config, or with an empty one, Ignition applies its base config alone: nobody can log in, but that is no failure. */
function firstBootReport(
  config: Uint8Array | null,
  kernelArguments: string[],
  disk: string,
  { failure, fetched, plan, config: applied }: IgnitionOutcome,
): FirstBoot {
  const found = {
    ...{ kernelArguments, disk, fetched, plannedDiskChanges: plan },
    configDigest: config && createHash('sha256').update(config).digest('hex'),
    failedStage: failure?.stage ?? null,
  }
  const nothing = { ignitionVersion: null, hostname: null, users: [], files: [], units: [] }
  let version: string | null = null
  try {
    if (config?.length) version = parseIgnition(config).ignition.version
  } catch (error) {
    // Its sentence says what the text is, where Ignition says only that it is no config.
    return { ...nothing, ...found, failure: errorChain(error).join(': ') }
  }
  if (failure) return { ...nothing, ...found, ignitionVersion: version, failure: failure.why }
  const summary = summarizeIgnition({ ...applied, ignition: { version: version ?? '' } } as IgnitionConfig)
  const { hostname, users, files, units } = summary
  return { ignitionVersion: version, hostname, users, files, units, ...found, failure: null }
}
