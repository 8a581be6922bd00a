import { sha256Hex } from '../../../base/bytes/index.js'
import {
  parseIgnition,
  summarizeIgnition,
  withHostname,
  writesHostname,
  type IgnitionConfig,
  type IgnitionSummary,
} from '../../../ignition/index.js'
import {
  compareWithImage,
  inspectDisk,
  openFileDisk,
  type DiskReport,
  type FirstBoot,
  type ImageDigests,
} from '../../../machine/index.js'
import { countText, UserError, type Clock } from '../../../base/runtime/index.js'
import type { StageName } from './deployment-events.js'

/** Parts of a deployment request that can be checked on the disk. */
export interface RequestedInstallation {
  ignition: IgnitionConfig
  hostname: string
  appendKargs: readonly string[]
  deleteKargs: readonly string[]
  /** Path of an image on this host; null for an image from a URL. */
  image: string | null
  /** The same image, read while it was installed. */
  digests?: ImageDigests
}

/** Result of one check on the disk. */
interface DiskCheck {
  what: string
  ok: boolean
  found: string
}

/** Result of a deployment, read back from the disk and from the report of the first boot. Contains no secrets: no config and no keys, only fingerprints. */
export interface DeploymentReport {
  node: string
  disk: { file: string; size: number; table: string | null; guid: string | null }
  partitions: {
    number: number
    name: string | null
    filesystem: string | null
    label: string | null
    offset: number
    length: number
  }[]
  ignition: {
    version: string
    sha256: string
    mode: string
    hostname: string | null
    users: { name: string; ssh_key_fingerprints: string[] }[]
    files: string[]
    units: string[]
  } | null
  kernel_arguments: string[]
  seconds: Partial<Record<StageName, number>>
  /** Installer that wrote a real target: its path, or that it is ironstage's own. */
  installer?: string
  /** Mechanism that confined the commands on a real target to its disk. */
  confinement?: string
  checks: DiskCheck[]
  ok: boolean
}

/** The config of an installation: as it is on the disk, or as it was there until the first boot applied and removed it. */
interface InstalledConfig {
  sha256: string
  mode: number
  /** Null for a config that is none. */
  summary: IgnitionSummary | null
}

/**
 * Reads the disk back and compares it with the request. A first boot that did not fail has removed the config from the
 * disk, and its report says what it applied.
 *
 * @param firstBoot undefined when none was expected
 */
export async function readBack(
  file: string,
  node: string,
  asked: RequestedInstallation,
  firstBoot: FirstBoot | MissingFirstBoot | undefined,
  seconds: DeploymentReport['seconds'],
  clock: Clock,
): Promise<DeploymentReport> {
  const disk = await inspectDisk({ path: file }, clock)
  const installed = appliedConfig(firstBoot) ?? configOnDisk(disk)
  const checks = [
    ...tableChecks(disk),
    ignitionCheck(installed, asked),
    ...kernelArgumentChecks(disk, asked),
    ...(asked.image === null ? [] : [await imageCheck(file, disk, asked.image, asked.digests, clock)]),
    ...(firstBoot === undefined ? [] : firstBootChecks(disk, firstBoot)),
  ]
  return {
    node,
    disk: { file, size: disk.size, table: disk.table, guid: disk.diskGuid },
    partitions: disk.partitions.map(({ number, name, offset, length, filesystem }) => ({
      number,
      name,
      offset,
      length,
      filesystem: filesystem?.type ?? null,
      label: filesystem?.label ?? null,
    })),
    ignition: installed && ignitionSection(installed),
    kernel_arguments: disk.boot?.entry?.kernelArguments ?? [],
    seconds,
    checks,
    ok: checks.every(({ ok }) => ok),
  }
}

function appliedConfig(firstBoot: FirstBoot | MissingFirstBoot | undefined): InstalledConfig | null {
  if (firstBoot === undefined || 'didNotHappen' in firstBoot || firstBoot.failure !== null) return null
  const { configDigest, configMode, ignitionVersion, hostname, users, files, units } = firstBoot
  if (configDigest === null) return null
  const version = ignitionVersion ?? ''
  return { sha256: configDigest, mode: configMode ?? 0, summary: { version, hostname, users, files, units } }
}

function configOnDisk({ boot }: DiskReport): InstalledConfig | null {
  if (!boot?.ignition) return null
  const { bytes, mode, sha256 } = boot.ignition
  const config = parseOnDisk(bytes)
  return { sha256, mode, summary: config && summarizeIgnition(config) }
}

function ignitionSection({ sha256, mode, summary }: InstalledConfig): DeploymentReport['ignition'] {
  if (summary === null) return null
  const { version, hostname, users, files, units } = summary
  return {
    version,
    sha256,
    mode: modeText(mode),
    hostname,
    users: users.map(({ name, sshKeyFingerprints }) => ({ name, ssh_key_fingerprints: sshKeyFingerprints })),
    files,
    units,
  }
}

const modeText = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0')

function parseOnDisk(bytes: Uint8Array): IgnitionConfig | null {
  try {
    return parseIgnition(bytes)
  } catch (error) {
    if (error instanceof UserError) return null
    throw error
  }
}

function tableChecks({ table, partitions, boot }: DiskReport): DiskCheck[] {
  return [
    {
      what: 'partition table',
      ok: table === 'gpt',
      found: table === null ? 'none' : `${table}, ${partitions.length} partitions`,
    },
    { what: 'boot filesystem', ok: boot !== null, found: boot === null ? 'none' : `partition ${boot.partition}` },
  ]
}

/** Checks that the installed config is the requested one, with the host name that the step adds. */
function ignitionCheck(installed: InstalledConfig | null, asked: RequestedInstallation): DiskCheck {
  const what = 'Ignition config'
  if (installed === null) return { what, ok: false, found: 'none' }
  const wanted = JSON.stringify(withHostname(asked.ignition, asked.hostname, 'duplicate'))
  if (installed.sha256 !== sha256Hex(Buffer.from(wanted))) return { what, ok: false, found: 'differs from the request' }
  if (writesHostname(asked.ignition)) {
    const why = 'it writes /etc/hostname, and so does the step: Ignition refuses two entries for one path at first boot'
    return { what, ok: false, found: `as requested, but ${why} (the step's argument own_hostname avoids that)` }
  }
  const mode = modeText(installed.mode)
  return { what, ok: mode === '0600', found: `as requested, mode ${mode}` }
}

function kernelArgumentChecks({ boot }: DiskReport, { appendKargs, deleteKargs }: RequestedInstallation): DiskCheck[] {
  // A requested argument may consist of several words.
  const line = ` ${boot?.entry?.kernelArguments.join(' ') ?? ''} `
  const found = { has: (argument: string) => line.includes(` ${argument.trim()} `) }
  return [
    ...appendKargs.map((arg) => ({
      what: `kernel argument ${arg}`,
      ok: found.has(arg),
      found: found.has(arg) ? 'present' : 'missing',
    })),
    ...deleteKargs
      .filter((arg) => !appendKargs.includes(arg))
      .map((arg) => ({
        what: `no kernel argument ${arg}`,
        ok: !found.has(arg),
        found: found.has(arg) ? 'still present' : 'absent',
      })),
  ]
}

async function imageCheck(
  file: string,
  { sectorSize }: DiskReport,
  image: string,
  digests: ImageDigests | undefined,
  clock: Clock,
): Promise<DiskCheck> {
  await using device = await openFileDisk({ path: file, name: 'disk', sectorSize, clock, readOnly: true })
  const equal = (bytes: number): DiskCheck => ({
    what: 'image',
    ok: true,
    found: `${bytes} bytes equal outside the boot filesystem`,
  })
  const quickly = await digests?.equalOn(device, file)
  if (typeof quickly === 'number') return equal(quickly)
  const { identical, differences, compared } = await compareWithImage(device, image, clock)
  if (identical) return equal(compared)
  return { what: 'image', ok: false, found: `differs from byte ${differences[0]?.offset ?? 0}` }
}

/** A first boot that did not come to its end, with what it waited for where that is known. */
interface MissingFirstBoot {
  didNotHappen: string | null
}

const firstBootChecks = (disk: DiskReport, firstBoot: FirstBoot | MissingFirstBoot): DiskCheck[] => [
  firstBootCheck(disk, firstBoot),
  ...appliedChecks(firstBoot),
  ...plannedChecks(firstBoot),
]

function firstBootCheck({ boot }: DiskReport, firstBoot: FirstBoot | MissingFirstBoot): DiskCheck {
  const what = 'first boot'
  if ('didNotHappen' in firstBoot) {
    const cause = firstBoot.didNotHappen
    return { what, ok: false, found: `did not happen${cause === null ? '' : `: ${cause}`}` }
  }
  if (firstBoot.failure) {
    const stage = firstBoot.failedStage === null ? '' : `Ignition failed at its stage ${firstBoot.failedStage}: `
    return { what, ok: false, found: `${stage}${firstBoot.failure}` }
  }
  const ran = `Ignition ran from ${firstBoot.disk}`
  if (boot?.firstBoot !== false) return { what, ok: false, found: `${ran}, but it would run again at the next boot` }
  if (boot.ignition !== null) return { what, ok: false, found: `${ran}, but its config is still on the disk` }
  return { what, ok: true, found: `${ran}, and its config was removed` }
}

/** Counts of what Ignition wrote, which is not on the disk. The report says so explicitly. */
function appliedChecks(firstBoot: FirstBoot | MissingFirstBoot): DiskCheck[] {
  if ('didNotHappen' in firstBoot || firstBoot.failure !== null) return []
  const { users, files, units } = firstBoot
  const counts = { user: users.length, file: files.length, unit: units.length }
  const parts = Object.entries(counts).filter(([, count]) => count > 0)
  if (parts.length === 0) return []
  const wrote = parts.map(([what, count]) => countText(count, what)).join(', ')
  return [{ what: 'applied by Ignition', ok: true, found: `${wrote}: kept beside the disk, not on it` }]
}

/** Disk changes of a config, which are planned but not executed. The report says so explicitly. */
const plannedChecks = (firstBoot: FirstBoot | MissingFirstBoot): DiskCheck[] =>
  ('didNotHappen' in firstBoot ? [] : firstBoot.plannedDiskChanges).map(({ section, device, what }) => ({
    what: `${section} ${device}`,
    ok: true,
    found: `planned and checked, not done: ${what}`,
  }))
