import { kernelWords } from '../../coreos/index.js'
import type { BootVolume } from '../disk/boot-volume.js'
import { editKargs } from '../programs/coreos-installer/kargs.js'

const FOLDER = '/loader/entries'

/** Names of the boot loader's entries in order; GRUB boots the last one. */
async function entryNames(volume: BootVolume): Promise<string[]> {
  const names = (await volume.exists(FOLDER)) ? await volume.list(FOLDER) : []
  return names.filter((name) => name.endsWith('.conf'))
}

/** Title and options of the entry that GRUB boots. */
export async function bootedEntry(volume: BootVolume): Promise<{ title: string; options: string[] } | undefined> {
  const last = (await entryNames(volume)).at(-1)
  if (last === undefined) return undefined
  const text = (await volume.read(`${FOLDER}/${last}`)).toString()
  const options = /^options\s+(.*)$/m.exec(text)?.[1]
  if (options === undefined) return undefined
  return { title: /^title\s+(.*)$/m.exec(text)?.[1] ?? '', options: kernelWords(options) }
}

export interface WantedArguments {
  shouldExist: readonly string[]
  shouldNotExist: readonly string[]
}

/** Removes and adds kernel arguments of the booted entry; true when that changed it. */
export async function setArguments(
  volume: BootVolume,
  { shouldExist, shouldNotExist }: WantedArguments,
): Promise<boolean> {
  const path = `${FOLDER}/${(await entryNames(volume)).at(-1)}`
  const text = (await volume.read(path)).toString()
  const old = /^options\s+(.*)$/m.exec(text)?.[1]?.trim() ?? ''
  let line = editKargs(old, { delete: shouldNotExist })
  for (const argument of shouldExist)
    if (!` ${line} `.includes(` ${argument} `)) line = editKargs(line, { append: [argument] })
  if (line === editKargs(old, {})) return false
  await volume.write(path, Buffer.from(text.replace(/^options\s+.*$/m, () => `options ${line}`)))
  return true
}

/**
 * Adds the entry of a new deployment after the one booted until now, as ostree does, so that GRUB boots it. The former
 * entry stays for a rollback.
 */
export async function addEntry(volume: BootVolume, title: string): Promise<void> {
  const names = await entryNames(volume)
  if ((await bootedEntry(volume))?.title === title) return
  const text = (await volume.read(`${FOLDER}/${names.at(-1)!}`)).toString()
  const before = 'ostree-1-fedora-coreos.conf'
  const now = 'ostree-2-fedora-coreos.conf'
  await volume.write(`${FOLDER}/${before}`, Buffer.from(text))
  await volume.write(`${FOLDER}/${now}`, Buffer.from(text.replace(/^title\s+.*$/m, () => `title ${title}`)))
  for (const name of names) if (name !== before && name !== now) await volume.remove(`${FOLDER}/${name}`)
}
