import type { BootVolume } from '../../disk/boot-volume.js'
import { duringInstall, Failure } from './installer-error.js'
import type { MountedBoot } from './mounted-boot.js'

const ENTRIES = '/loader/entries'
const OPTIONS_PREFIX = 'options '

/** Path of the last boot entry by name, which is edited. */
async function lastEntry(volume: BootVolume, at = ''): Promise<string> {
  const names = (await volume.list(ENTRIES)).filter((name) => name.endsWith('.conf'))
  const last = names.at(-1)
  if (last === undefined) throw new Failure(`Found no BLS entries in ${at}${ENTRIES}`)
  return `${ENTRIES}/${last}`
}

/**
 * Rewrites the kernel arguments of the last boot loader entry. Trailing blanks of the file are removed, as by
 * coreos-installer.
 *
 * @param edit maps the arguments to the new ones
 */
export async function editBootEntry(volume: MountedBoot, edit: (kernelArguments: string) => string): Promise<void> {
  const path = await lastEntry(volume, volume.at)
  await duringInstall(`visiting ${volume.at}${path}`, async () => {
    const lines = (await volume.read(path)).toString('utf8').replace(/\n$/, '').split('\n')
    const found = lines.filter((line) => line.startsWith(OPTIONS_PREFIX))
    if (found.length === 0) throw new Failure("Couldn't locate 'options' line")
    if (found.length > 1) throw new Failure("Multiple 'options' lines found")
    const edited = await duringInstall('visiting options', () => edit(found[0]!.slice(OPTIONS_PREFIX.length).trim()))
    const all = lines.map((line) => (line === found[0] ? OPTIONS_PREFIX + edited : line))
    await volume.write(path, Buffer.from(all.map((line) => `${line.trimEnd()}\n`).join('')))
  })
}

/** The kernel arguments of the last boot loader entry. */
export async function readBootEntry(
  volume: BootVolume,
): Promise<{ path: string; text: string; kernelArguments: string }> {
  const path = await lastEntry(volume)
  const text = (await volume.read(path)).toString('utf8')
  const line = text.split('\n').find((line) => line.startsWith(OPTIONS_PREFIX))
  return { path, text, kernelArguments: line?.slice(OPTIONS_PREFIX.length).trim() ?? '' }
}
