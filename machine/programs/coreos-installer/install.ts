import { expandConfigFiles } from './command-line/config-file.js'
import { checkExclusive, findDestination, type InstallDestination } from './destination.js'
import { formatFailure, duringInstall, Failure, isDefect } from './installer-error.js'
import type { InstallerProcess } from './installer-host.js'
import type { Fetching } from './source/http.js'
import { readEmbeddedIgnition } from './ignition-config.js'
import type { InstallOptions } from './command-line/installer-options.js'
import { temporaryName } from './mounted-boot.js'
import { parseFilters } from './partition-filters.js'
import { needsPostProcessing, postProcess } from './postprocess.js'
import { SavedPartitions } from './saved-partitions.js'
import { checkSignature } from './source/installer-signature.js'
import { openSource, type ImageSource } from './source/source.js'
import { writeImage } from './install-image.js'

/**
 * `coreos-installer install`. All messages except the expanded arguments go to stderr.
 *
 * @throws Failure with the cause before the first write, and `runInstall failed` after it
 */
export async function runInstall(process: InstallerProcess, commandLine: InstallOptions): Promise<void> {
  const { host, clock, signal, downloads } = process
  const print = (line: string) => process.stderr(`${line}\n`)
  const options = await expandConfigFiles(commandLine, host.files, (text) => process.stdout(text))
  const { destDevice } = options
  if (destDevice === undefined) throw new Failure('destination device must be specified')
  const retries = options.fetchRetries === 'infinite' ? Infinity : Number(options.fetchRetries ?? 0)
  const { proxies } = host
  const fetching: Fetching = { clock, signal, proxies, downloads, retries, print }
  const ignition = await readEmbeddedIgnition(options, host.files, fetching)
  const filters = await parseFilters(options)
  const destination = await findDestination(host, destDevice, signal)
  const source = await openSource(process, options, destination.device.sectorSize, fetching)
  try {
    if (source.signature.kind === 'missing') {
      if (!options.insecure) throw new Failure('--insecure not specified and signature not found')
      print('Signature not found; skipping verification as requested')
    }
    await checkExclusive(destination, host, print)
    const saved = await SavedPartitions.read(destination.device, destDevice, filters)
    await writeOrReset({ process, destination, options, source, saved, ignition })
  } finally {
    await source.bytes[Symbol.asyncDispose]()
  }
  const others = await host.otherBootFilesystems(destination.found)
  if (others.length > 0) {
    print('\nNote: detected other devices with a filesystem labeled `boot`:')
    for (const other of others) print(`  - ${other}`)
    print('The installed OS may not work correctly if there are multiple boot filesystems.')
    print('Before rebooting, investigate whether these filesystems are needed and consider')
    print('wiping them with `wipefs -a`.\n')
  }
  print('Install complete.')
}

interface Writing {
  process: InstallerProcess
  destination: InstallDestination
  options: InstallOptions
  source: ImageSource
  saved: SavedPartitions
  ignition: Uint8Array | undefined
}

async function writeOrReset({ process, destination, options, source, saved, ignition }: Writing): Promise<void> {
  const { host, clock, signal, random } = process
  const { files } = host
  const { device, path: devicePath } = destination
  const print = (line: string) => process.stderr(`${line}\n`)
  try {
    await writeImage(process, device, source, saved)
    checkSignature(source.signature, print)
    await duringInstall('syncing data to disk', () => device.flush())
    if (needsPostProcessing(options, ignition))
      await postProcess({ device, devicePath, options, ignition, files, clock, random, print })
  } catch (error) {
    // A killed installer cleans nothing up.
    signal.throwIfAborted()
    if (isDefect(error)) throw error
    print(`\n${formatFailure(error)}`)
    if (options.preserveOnError) {
      print('Preserving partition table as requested')
      if (saved.any) {
        const path = `/tmp/coreos-installer-partitions.${temporaryName(random)}`
        print(`Storing saved partition entries to ${path}`)
        files.write(path, saved.tableBytes(random), { mode: 0o600 })
      }
    } else {
      print('Resetting partition table')
      await duringInstall('restoring saved partitions', () => saved.clearTable(random))
    }
    throw new Failure('install failed')
  }
}
