import { seconds, type Clock, type Logger } from '../../base/runtime/index.js'
import type { Target } from '../../targets/index.js'
import { CommandFailed, runToEnd, runCommand } from '../sdk/run-command.js'
import { StepError } from '../sdk/step.js'
import { withMounted } from './mounted.js'
import { readPartitions, type Partition } from './read-partitions.js'

const EFI_SYSTEM_PARTITION = 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b'

/** Attempts, as in the upstream step: firmware sometimes refuses right after a disk was written (Red Hat bug 2057668). */
const MAX_EFI_ATTEMPTS = 6
const EFI_RETRY_DELAY = seconds(5)

/** Boot loader that the firmware starts. */
export interface Loader {
  /** Label in the boot menu. */
  label: string
  /** Path on the EFI system partition: `\EFI\fedora\shimx64.efi`. */
  path: string
}

/**
 * Makes the firmware boot a disk: finds the EFI system partition and the boot loader on it, deletes entries of the same
 * label and creates a new one, which comes first.
 *
 * @throws StepError of type DeviceNotFound when the disk has no EFI system partition; CommandFailed when efibootmgr fails
 *   in every attempt
 */
export async function createBootEntry(
  target: Target,
  device: string,
  { clock, logger, signal }: { clock: Clock; logger: Logger; signal: AbortSignal },
): Promise<void> {
  const esp = (await readPartitions(target, device)).partitions.find((p) => p.partitionType === EFI_SYSTEM_PARTITION)
  if (!esp?.number)
    throw new StepError(`No EFI partition could be detected on device ${device}, so the firmware could not boot it`, {
      type: 'DeviceNotFound',
    })
  const loader = await findLoader(target, esp.name, logger)
  for (let attempt = 1; ; attempt++) {
    try {
      await replaceEntry(target, device, esp, loader, logger)
      return
    } catch (error) {
      if (attempt === MAX_EFI_ATTEMPTS || !(error instanceof CommandFailed)) throw error
      logger('warn', `making the EFI boot entry failed, attempt ${attempt} of ${MAX_EFI_ATTEMPTS}: ${error.message}`)
      await clock.sleep(EFI_RETRY_DELAY, { signal })
    }
  }
}

async function replaceEntry(
  target: Target,
  device: string,
  esp: Partition,
  { label, path }: Loader,
  logger: Logger,
): Promise<void> {
  const { executor } = target
  const menu = parseBootMenu((await runCommand(executor, ['efibootmgr', '-v'], { effect: 'reads' })).stdout)
  const same = menu.entries.filter((entry) => entry.label === label)
  // A restarted agent repeats this step: keep the entry of its first run, since firmware memory wears out.
  if (same.length === 1 && menu.order[0] === same[0]!.number && starts(same[0]!, esp, path)) return
  for (const { number } of same) {
    logger('debug', `deleting the EFI boot entry ${number}, which is labelled ${label} too`)
    await runCommand(executor, ['efibootmgr', '-b', number, '-B'], { effect: 'writes' })
  }
  await runCommand(
    executor,
    ['efibootmgr', '-v', '-c', '-d', device, '-p', String(esp.number), '-w', '-L', label, '-l', path],
    { effect: 'writes' },
  )
}

const starts = (entry: BootEntry, esp: Partition, loader: string) =>
  esp.partitionUuid !== null &&
  entry.path.toLowerCase().includes(esp.partitionUuid) &&
  entry.path.toLowerCase().includes(loader.toLowerCase())

export interface BootEntry {
  /** Four hex digits. */
  number: string
  label: string
  /** `HD(2,GPT,GUID,0x1000,0x8000)/File(\\EFI\\fedora\\shimx64.efi)`; empty in a listing without paths. */
  path: string
}

/** Parses `BootOrder: 0003,0001` and `Boot0003* Fedora\tHD(2,GPT,...)`; efibootmgr separates label and path by a tab. */
export function parseBootMenu(listing: string): { order: string[]; entries: BootEntry[] } {
  const order = /^BootOrder: (\S+)/m.exec(listing)?.[1]?.split(',') ?? []
  const entries = listing.split('\n').flatMap((line): BootEntry[] => {
    const [, number, rest = ''] = /^Boot([\dA-F]{4})[* ] (.*)$/i.exec(line) ?? []
    const tab = rest.indexOf('\t')
    const cut = tab >= 0 ? tab : rest.search(/\s+\w+\(/)
    const label = (cut < 0 ? rest : rest.slice(0, cut)).trim()
    return number === undefined ? [] : [{ number, label, path: cut < 0 ? '' : rest.slice(cut).trim() }]
  })
  return { order, entries }
}

/** The boot loader that the installed system announces, or else the path that firmware tries by default. */
async function findLoader(target: Target, esp: string, logger: Logger): Promise<Loader> {
  const { stdout } = await runToEnd(target.executor, ['uname', '-m'], { effect: 'reads' })
  const suffix = stdout.trim() === 'aarch64' ? 'aa64' : 'x64'
  const removable: Loader = { label: 'CoreOS', path: `\\EFI\\BOOT\\BOOT${suffix.toUpperCase()}.EFI` }
  try {
    return (await withMounted(target, esp, logger, (folder) => announced(target, folder, suffix))) ?? removable
  } catch (error) {
    // Described or unknown file systems cannot be mounted; the removable path is where UEFI looks without an entry.
    logger('debug', `${esp} could not be looked into, using ${removable.path}`, { error: String(error) })
    return removable
  }
}

/** Reads `EFI/VENDOR/BOOTX64.CSV` as shim's fallback loader does, and looks for a shim or GRUB where it is missing. */
async function announced(target: Target, folder: string, suffix: string): Promise<Loader | undefined> {
  const names = async (path: string) =>
    (await runToEnd(target.executor, ['ls', '-1', path], { effect: 'reads' })).stdout
      .split('\n')
      .filter((name) => name !== '')
  for (const vendor of await names(`${folder}/EFI`)) {
    if (/^boot$/i.test(vendor)) continue
    const files = await names(`${folder}/EFI/${vendor}`)
    const csv = files.find((name) => name.toLowerCase() === `boot${suffix}.csv`)
    if (csv) {
      const { stdout } = await runToEnd(target.executor, ['cat', `${folder}/EFI/${vendor}/${csv}`], { effect: 'reads' })
      const loader = parseBootCsv(stdout, vendor)
      if (loader) return loader
    }
    // FAT names are case-insensitive.
    const shim = [`shim${suffix}.efi`, `grub${suffix}.efi`]
      .map((wanted) => files.find((name) => name.toLowerCase() === wanted))
      .find((name) => name !== undefined)
    if (shim) return { label: vendor, path: `\\EFI\\${vendor}\\${shim}` }
  }
  return undefined
}

/** Parses `shimx64.efi,Fedora,,This is the boot entry for Fedora`, which is UTF-16. */
export function parseBootCsv(text: string, vendor: string): Loader | undefined {
  // Read as UTF-8, UTF-16 text of ASCII has a NUL after every letter and a broken byte order mark.
  const [file, label] = text
    .replaceAll(/[^\x20-\x7e\n]/g, '')
    .split('\n')[0]!
    .split(',')
  return file && label ? { label, path: `\\EFI\\${vendor}\\${file}` } : undefined
}
