import { sha256Hex, type HttpThrough } from '../../base/bytes/index.js'
import { errorChain, type Clock, type Probe, type Random } from '../../base/runtime/index.js'
import { parseIgnition, summarizeIgnition, type IgnitionConfig } from '../../ignition/index.js'
import { FIRST_BOOT_FLAG, IGNITION_FOLDER, type BootConfig, type Bootable } from './bootable.js'
import { containerFirstBoot } from './container-boot.js'
import type { SimulatedDisk } from '../disk/block-device.js'
import { withBootPlace } from '../disk/boot-place.js'
import { removeTree, type BootVolume } from '../disk/boot-volume.js'
import { setUpGpt } from '../disk/gpt-setup.js'
import type { ConfigSource } from '../ignition/config-acquisition.js'
import { findConfigDrive } from '../ignition/find-config-drive.js'
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
import { accountsRelease } from '../root/release-accounts.js'

export interface FirstBootParts {
  spec: MachineSpec
  bootId: string
  disks: ReadonlyMap<string, SimulatedDisk>
  system: InstalledSystem
  clock: Clock
  random: Random
  probe: Probe
  /** Sees the requests of Ignition. */
  downloads?: HttpThrough | undefined
  signal: AbortSignal
}

/** Outcome of one start of an installed system. `reboot`: Ignition changed kernel arguments. */
export type DiskBoot = 'up' | 'emergency shell' | 'reboot'

/**
 * The first boot of an installed system: coreos-gpt-setup gives the partition table a GUID of its own and moves its
 * backup to the end of the disk, Ignition applies the config, systemd enables the units of Ignition's preset, and the boot
 * filesystem loses what was there for the first boot only. When Ignition fails, the machine stays in the emergency shell
 * and all of that stays, so that the next boot starts over.
 *
 * @param persist called with the report before anything is removed, so that a crash cannot lose the report
 */
export async function firstBoot(
  bootable: Bootable,
  parts: FirstBootParts,
  persist: (report: FirstBoot) => Promise<void>,
): Promise<DiskBoot> {
  const { spec, system, clock, random, probe, downloads, signal, disks, bootId } = parts
  const { device, bootPlace, config, kernelArguments } = bootable
  if (bootable.container) return containerFirstBoot({ ...bootable, container: bootable.container }, parts, persist)
  await setUpGpt(device, random)
  system.begin()
  const deployment = baseDeployment(bootable.title, kernelArguments)
  const release = accountsRelease(deployment.version)
  const tree = baseRoot(release)
  deployFiles(tree, null, deployment)
  const outcome = await runIgnition({
    machine: spec.id,
    bootId,
    tree,
    clock,
    probe,
    downloads,
    signal,
    version: deployment.version,
    source: await findConfigSource(bootable, disks),
    devices: () => Devices.read(spec, disks, device.name),
    editKernelArguments: (edit) => withBootPlace(device, bootPlace, clock, (volume) => setArguments(volume, edit)),
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
    system.keepOs({ booted: deployment, staged: null, rollback: null, pivot, layers: [], base: deployment.version })
  }
  system.keepTree(device.name, release, tree)
  await persist(firstBootReport(config, kernelArguments, `/dev/${device.name}`, outcome))
  if (outcome.failure !== null) return 'emergency shell'
  await withBootPlace(device, bootPlace, clock, completeFirstBoot)
  await device.flush()
  return 'up'
}

/**
 * Removes what fedora-coreos-config's coreos-ignition-firstboot-complete removes: the flag, and the config, which may hold
 * secrets. The flag goes first, although it goes last there: no journal makes one transaction of these writes, and a first
 * boot that is repeated must find its config.
 */
async function completeFirstBoot(volume: BootVolume): Promise<void> {
  await volume.remove(FIRST_BOOT_FLAG)
  if (await volume.exists(IGNITION_FOLDER)) await removeTree(volume, IGNITION_FOLDER)
}

/** A config URL of the kernel's command line has precedence over the config of the boot partition, and that over the platform's. */
async function findConfigSource(
  { config, kernelArguments }: Bootable,
  disks: ReadonlyMap<string, SimulatedDisk>,
): Promise<ConfigSource> {
  const last = (name: string): string | undefined =>
    kernelArguments.findLast((argument) => argument.startsWith(`${name}=`))?.slice(name.length + 1)
  const url = last('ignition.config.url')
  if (url !== undefined) return { from: 'cmdline', url }
  if (config) return { from: 'system', bytes: config.bytes }
  if (last('ignition.platform.id') !== 'openstack') return null
  return { from: 'openstack', drive: await findConfigDrive(disks.values()) }
}

/** Without a config, or with an empty one, Ignition applies only its base config. This is no failure, although no user can log in. */
function firstBootReport(
  config: BootConfig | null,
  kernelArguments: string[],
  disk: string,
  { failure, fetched, plan, config: applied, version: newest }: IgnitionOutcome,
): FirstBoot {
  const found = {
    kernelArguments,
    disk,
    fetched,
    plannedDiskChanges: plan,
    configDigest: config && sha256Hex(config.bytes),
    configMode: config && config.mode,
    failedStage: failure?.stage ?? null,
  }
  const nothing = { ignitionVersion: null, hostname: null, users: [], files: [], units: [] }
  let version: string | null = null
  try {
    version = config?.bytes.length ? parseIgnition(config.bytes).ignition.version : newest
  } catch (error) {
    // parseIgnition's sentence names what the text is; Ignition says only that it is no config.
    return { ...nothing, ...found, failure: errorChain(error).join(': ') }
  }
  if (failure) return { ...nothing, ...found, ignitionVersion: version, failure: failure.why }
  const summary = summarizeIgnition({ ...applied, ignition: { version: version ?? '' } } as IgnitionConfig)
  const { hostname, users, files, units } = summary
  return { ignitionVersion: version, hostname, users, files, units, ...found, failure: null }
}
