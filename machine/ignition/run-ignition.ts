import type { HttpThrough } from '../../base/bytes/index.js'
import type { Clock, Probe } from '../../base/runtime/index.js'
import type { SpecConfig } from '../../ignition/index.js'
import type { RootTree } from '../root/root-tree.js'
import { AccountTools } from './account-tools.js'
import {
  acquireConfig,
  fetchedLine,
  readBaseConfig,
  withBase,
  type AcquiredConfig,
  type ConfigSource,
  type FetchedConfigs,
} from './config-acquisition.js'
import { lostNeeds, metNeeds } from './boot-needs.js'
import type { Devices } from './devices.js'
import type { PlannedDiskChange } from './disk-plan.js'
import { BLOCK_DEVICE_TIMEOUT, planDisks } from './disks-stage.js'
import { createFilesystemEntries, createOwnFile, type EntriesWork } from './filesystem-entries.js'
import { goQuoted, IgnitionFailure, IgnitionLog, type Priority } from './ignition-log.js'
import { newestSpecOf } from './newest-spec.js'
import { Resources } from './ignition-resources.js'
import { createUnits } from './ignition-units.js'
import { createAccounts, prefixFailures } from './users.js'

/** Ignition's stages in order. */
export const IGNITION_STAGES = ['fetch-offline', 'fetch', 'kargs', 'disks', 'mount', 'files', 'umount'] as const
/** A stage of Ignition. */
type IgnitionStage = (typeof IGNITION_STAGES)[number]

const SIMULATED_IGNITION = '2.26.0'
const DAY = 86_400_000

/** A machine at its first boot, as Ignition uses it. */
export interface IgnitionHost {
  machine: string
  bootId: string
  tree: RootTree
  /** Version of the system whose Ignition this is. */
  version: string
  source: ConfigSource
  clock: Clock
  probe: Probe
  /** Sees its requests. */
  downloads?: HttpThrough | undefined
  signal: AbortSignal
  devices: () => Promise<Devices>
  /** Changes the boot loader's entry; true when anything changed. */
  editKernelArguments: (edit: { shouldExist: readonly string[]; shouldNotExist: readonly string[] }) => Promise<boolean>
  print: (stage: IgnitionStage | null, priority: Priority, message: string) => void
}

export interface IgnitionOutcome extends AcquiredConfig {
  plan: PlannedDiskChange[]
  /** True if kernel arguments changed, so that the machine reboots before any further stage. */
  reboot: boolean
  /** Parts of the disks that the plan takes away and a boot needs. */
  lost: string[]
  /** The stage is null for what fails between two of them. */
  failure: { stage: IgnitionStage | null; why: string } | null
}

/**
 * Runs Ignition's stages one after another on a machine's root filesystem, up to the first that fails: the machine then
 * goes into its emergency shell, and files that were written before stay.
 */
export async function runIgnition(host: IgnitionHost): Promise<IgnitionOutcome> {
  const outcome: IgnitionOutcome = {
    config: {},
    version: null,
    fetched: [],
    plan: [],
    lost: [],
    reboot: false,
    failure: null,
  }
  const seen: FetchedConfigs = []
  for (const stage of IGNITION_STAGES) {
    const log = new IgnitionLog((priority, message) => host.print(stage, priority, message))
    const unit = `ignition-${stage}.service - Ignition (${stage})`
    host.print(null, 'info', `Starting ${unit}...`)
    log.line('info', `Ignition ${SIMULATED_IGNITION}`)
    log.line('info', `Stage: ${stage}`)
    try {
      await runStage(stage, host, outcome, log, seen)
    } catch (error) {
      if (!(error instanceof IgnitionFailure)) throw error
      log.line('crit', `Ignition failed: ${error.message}`)
      host.print(null, 'notice', `ignition-${stage}.service: Main process exited, code=exited, status=1/FAILURE`)
      host.print(null, 'err', `Failed to start ${unit}.`)
      host.print(null, 'info', 'Reached target emergency.target - Emergency Mode.')
      return { ...outcome, failure: { stage, why: error.explanation } }
    }
    log.line('info', 'Ignition finished successfully')
    host.print(null, 'info', `Finished ${unit}.`)
    if (outcome.lost.length > 0) return waitForLost(host, outcome)
    if (outcome.reboot) {
      host.print(null, 'info', 'Starting coreos-kargs-reboot.service - CoreOS Kernel Arguments Reboot...')
      return outcome
    }
  }
  host.print(null, 'info', 'Reached target ignition-complete.target - Ignition Complete.')
  return outcome
}

/** After its disks stage the system waits for the devices that it boots from. */
async function waitForLost(host: IgnitionHost, outcome: IgnitionOutcome): Promise<IgnitionOutcome> {
  await host.clock.sleep(BLOCK_DEVICE_TIMEOUT, { signal: host.signal })
  const [first] = outcome.lost
  const label = first?.endsWith('root') ? 'root' : 'boot'
  host.print(null, 'err', `Timed out waiting for device dev-disk-by\\x2dlabel-${label}.device.`)
  host.print(null, 'info', 'Reached target emergency.target - Emergency Mode.')
  const why = `the config takes away what a boot needs: ${outcome.lost.join(', ')}`
  return { ...outcome, failure: { stage: null, why } }
}

async function runStage(
  stage: IgnitionStage,
  host: IgnitionHost,
  outcome: IgnitionOutcome,
  log: IgnitionLog,
  seen: FetchedConfigs,
): Promise<void> {
  const { machine, clock, probe, downloads, signal } = host
  const newest = newestSpecOf(host.version)
  const resources = new Resources({ machine, clock, probe, downloads, signal, log, newest })
  const base = readBaseConfig(log, seen)
  if (stage === 'fetch-offline' || stage === 'fetch') {
    const acquired = await acquireConfig(host.source, resources, log, seen, stage === 'fetch-offline')
    if (!acquired) return
    for (const one of seen) log.line('info', fetchedLine(one))
    Object.assign(outcome, acquired)
  } else await resources.configure(outcome.config.ignition)
  const config = withBase(base, outcome.config)
  await log.within(stage, async () => {
    await workOf(stage, host, config, outcome, log, resources)
    log.line('info', `${stage} passed`)
  })
}

async function workOf(
  stage: IgnitionStage,
  host: IgnitionHost,
  config: SpecConfig,
  outcome: IgnitionOutcome,
  log: IgnitionLog,
  resources: Resources,
): Promise<void> {
  switch (stage) {
    case 'fetch-offline':
    case 'umount':
      return
    case 'fetch':
      return log.line('info', 'fetch complete')
    case 'kargs':
      return setKernelArguments(host, config, outcome, log)
    case 'disks': {
      const { disks, raid, luks, filesystems } = config.storage ?? {}
      if (![disks, raid, luks, filesystems].some((section) => section?.length)) return
      const { clock, signal } = host
      outcome.plan = []
      const devices = await host.devices()
      const needs = metNeeds(devices)
      await planDisks({ devices, clock, signal, log, plan: outcome.plan }, config.storage!)
      outcome.lost = lostNeeds(needs, devices)
      return
    }
    case 'mount':
      return mountFilesystems(host, config, log)
    case 'files': {
      const tools = new AccountTools(host.tree, Math.floor(host.clock.now() / DAY))
      return writeIgnitionFiles(host, config, { tree: host.tree, tools, log, resources })
    }
  }
}

async function setKernelArguments(
  host: IgnitionHost,
  { kernelArguments: { shouldExist = [], shouldNotExist = [] } = {} }: SpecConfig,
  outcome: IgnitionOutcome,
  log: IgnitionLog,
): Promise<void> {
  if (shouldExist.length + shouldNotExist.length === 0) return
  const argv = [
    'ignition-kargs-helper',
    ...shouldExist.flatMap((argument) => ['--should-exist', argument]),
    ...shouldNotExist.flatMap((argument) => ['--should-not-exist', argument]),
  ]
  await log.operation('updating kernel arguments', async () => {
    log.line('debug', `executing: ${argv.map(goQuoted).join(' ')}`)
    outcome.reboot = await host.editKernelArguments({ shouldExist, shouldNotExist })
  })
}

/** Makes mount points. Filesystems are only planned, so files below a mount point are written to the root filesystem. */
async function mountFilesystems({ tree }: IgnitionHost, { storage }: SpecConfig, log: IgnitionLog): Promise<void> {
  const mounts = (storage?.filesystems ?? []).filter(
    ({ path, format }) => path && format && !['swap', 'none'].includes(format),
  )
  for (const { path = '', device = '', format, mountOptions = [] } of mounts) {
    const what = `mounting ${goQuoted(device)} at ${goQuoted(`/sysroot${path}`)} with type ${goQuoted(format!)} and options ${goQuoted(mountOptions.join(','))}`
    await log.operation(what, () => void tree.mkdirs(path))
  }
}

function isProvided(source: ConfigSource): boolean {
  if (source === null || source.from === 'cmdline') return source !== null
  const bytes = source.from === 'system' ? source.bytes : source.drive?.userData
  return (bytes?.length ?? 0) > 0
}

async function writeIgnitionFiles(host: IgnitionHost, config: SpecConfig, work: EntriesWork): Promise<void> {
  const { log } = work
  await prefixFailures('failed to create users/groups')(() => createAccounts(work, config.passwd ?? {}))
  await prefixFailures('failed to create files')(() =>
    log.within('createFilesystemsFiles', () => createFilesystemEntries(work, config.storage ?? {})),
  )
  await prefixFailures('failed to create units')(() => createUnits(work, config.systemd?.units ?? []))
  const result = {
    provisioningBootID: host.bootId,
    provisioningDate: new Date(host.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z'),
    userConfigProvided: isProvided(host.source),
  }
  await prefixFailures('creating result file')(() =>
    log.within('createResultFile', () =>
      createOwnFile(work, {
        path: '/etc/.ignition-result.json',
        overwrite: true,
        mode: 0o600,
        contents: { source: `data:;base64,${Buffer.from(`${JSON.stringify(result, null, 2)}\n`).toString('base64')}` },
      }),
    ),
  )
}
