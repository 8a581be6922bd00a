import type { Process } from '../program.js'
import { writeEmptyGpt } from '../../disk/gpt.js'
import { expandConfigFiles } from './config-file.js'
import { checkExclusive, findDestination, otherBootFilesystems, type Destination } from './destination.js'
import { describe, during, Failure, isDefect } from './failure.js'
import type { Fetching } from './http.js'
import { readIgnition } from './ignition-config.js'
import type { InstallOptions } from './options.js'
import { needsPostProcessing, postProcess } from './postprocess.js'
import { checkSignature } from './signature.js'
import { openSource, type ImageSource } from './source.js'
import { writeImage } from './write-image.js'

/**
 * `coreos-installer install`. Everything a person sees but the expanded arguments goes to stderr.
 *
 * @throws Failure for what went wrong before the disk was touched, and `install failed` after
 * @throws UsageError for a config file's bad arguments
 */
export async function install(process: Process, given: InstallOptions): Promise<void> {
  const { inside, clock, signal } = process
  const print = (line: string) => process.stderr(`${line}\n`)
  const options = await expandConfigFiles(given, inside.files, (text) => process.stdout(text))
  const { destDevice } = options
  if (destDevice === undefined) throw new Failure('destination device must be specified')
  const retries = options.fetchRetries === 'infinite' ? Infinity : Number(options.fetchRetries ?? 0)
  const fetching: Fetching = { clock, signal, retries, print }
  const ignition = await readIgnition(options, inside.files, fetching)
  if (options.savePartlabel.length > 0 || options.savePartindex.length > 0)
    throw new Failure('saving partitions is not rehearsed; leave out --save-partlabel and --save-partindex')
  if (options.secureIpl) throw new Failure('--secure-ipl is for s390x only')
  const destination = await findDestination(process, destDevice)
  const source = await openSource(process, options, fetching)
  try {
    if (source.signature.kind === 'missing') {
      if (!options.insecure) throw new Failure('--insecure not specified and signature not found')
      print('Signature not found; skipping verification as requested')
    }
    await checkExclusive(destination, inside, print)
    await writeOrReset(process, destination, options, source, ignition)
  } finally {
    await source.bytes[Symbol.asyncDispose]()
  }
  const others = await otherBootFilesystems(inside, destination)
  if (others.length > 0) {
    print('\nNote: detected other devices with a filesystem labeled `boot`:')
    for (const other of others) print(`  - ${other}`)
    print('The installed OS may not work correctly if there are multiple boot filesystems.')
    print('Before rebooting, investigate whether these filesystems are needed and consider')
    print('wiping them with `wipefs -a`.\n')
  }
  print('Install complete.')
}

async function writeOrReset(
  process: Process,
  destination: Destination,
  options: InstallOptions,
  source: ImageSource,
  ignition: Uint8Array | undefined,
): Promise<void> {
  const { inside, clock, signal, random } = process
  const { device, path: devicePath } = destination
  const print = (line: string) => process.stderr(`${line}\n`)
  try {
    await writeImage(process, device, source)
    checkSignature(source.signature, print)
    await during('syncing data to disk', () => device.flush())
    if (needsPostProcessing(options, ignition))
      await postProcess({ device, devicePath, options, ignition, files: inside.files, clock, print })
  } catch (error) {
    // Killed: whatever is on the disk stays.
    signal.throwIfAborted()
    if (isDefect(error)) throw error
    print(`\n${describe(error)}`)
    if (options.preserveOnError) print('Preserving partition table as requested')
    else {
      print('Resetting partition table')
      await writeEmptyGpt(device, random)
    }
    throw new Failure('install failed')
  }
}
