import { keyfileFiles, wrapFiles } from '../../../coreos/index.js'
import type { Clock } from '../../../base/runtime/index.js'
import type { FileTree } from '../../file-tree.js'
import { readBootEntry } from './boot-entry.js'
import { duringInstall, Failure } from './installer-error.js'
import type { MountedBoot } from './mounted-boot.js'

/**
 * Appends the keyfiles of a folder to the installed initramfs, as an xz-compressed cpio. 0.27.0 copies a network
 * configuration so; earlier versions wrote files on the boot filesystem.
 */
export async function copyNetwork(options: {
  volume: MountedBoot
  files: FileTree
  folder: string
  clock: Clock
  print: (line: string) => void
}): Promise<void> {
  const { volume, files, folder, clock, print } = options
  const base = folder.replace(/\/+$/, '')
  const keyfiles = await duringInstall(`reading directory ${folder}`, () =>
    files.list(base || '/').filter((name) => files.stat(`${base}/${name}`).kind === 'file'),
  )
  if (keyfiles.length === 0) return print(`No networking configuration files found in ${folder}, skipping`)
  print(`Copying networking configuration from ${folder}`)
  const copied = keyfiles.map((name) => {
    print(`Copying ${base}/${name} to initramfs`)
    return { name, bytes: files.read(`${base}/${name}`) }
  })
  const { text } = await readBootEntry(volume)
  for (const key of ['linux', 'initrd', 'options'])
    if (!new RegExp(`^${key}\\s`, 'm').test(text)) throw new Failure(`missing '${key}' key in default BLS config`)
  const initrd = /^initrd\s+(\S+)/m.exec(text)![1]!
  // Paths in boot loader entries may begin with /boot, the mount point in the installed system.
  const path = initrd.replace(/^\/boot\//, '/')
  if (!(await volume.exists(path))) throw new Failure(`initramfs file not found at "${volume.at}${path}"`)
  const old = await volume.read(path)
  await volume.write(path, Buffer.concat([old, await wrapFiles(keyfileFiles(copied), clock)]))
  print(`Appended network configuration to initramfs ${initrd}`)
}
