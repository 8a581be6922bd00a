import {
  FormatError,
  NotOnIso,
  readIso9660,
  detectCompression,
  type ByteSource,
  type IsoFilesystem,
} from '../../base/bytes/index.js'
import { readInitramfs } from '../../coreos/index.js'
import { errorChain, type Clock, type ConfigFile } from '../../base/runtime/index.js'
import { GRUB_MENUS, grubEntry, ISOLINUX_MENUS, isolinuxEntry, type MenuEntry } from '../network/boot-menu.js'
import { kernelParameters, namesIronic } from './kernel-parameters.js'
import type { LiveImage } from './live-image.js'

interface IsoLoading {
  clock: Clock
  signal: AbortSignal
  say: (line: string) => void
}

/** Folders of the medium that the agent copies its configuration from (ironic-python-agent utils.py copy_config_from_vmedia). */
const CONFIG_FOLDERS = ['etc/ironic-python-agent', 'etc/ironic-python-agent.d']
/** Labels of the media whose configuration the agent takes. */
const CONFIG_LABELS = ['CONFIG-2', 'VMEDIA_BOOT_ISO']
const MAX_AGENT_CONFIG_BYTES = 1024 * 1024
const MAX_BOOT_MENU_BYTES = 256 * 1024

/**
 * Looks at an ISO that is no CoreOS: the menu of its boot loader names a kernel, an initramfs and the kernel's command line,
 * as on the ISO that Ironic builds for virtual media. The initramfs is one with an agent when the command line names an
 * Ironic, or when it contains ironic-python-agent.
 *
 * @throws FormatError when the menu names files that the medium lacks
 */
export async function agentIso(image: ByteSource, loading: IsoLoading): Promise<LiveImage> {
  const { clock, signal, say } = loading
  const iso = await readIso9660(image, { rockRidge: true })
  const found = await menuOf(iso)
  const other: LiveImage = { kind: 'other', kernelArguments: '', config: null, hasRoot: true, version: null }
  if (!found) {
    say('the medium has no menu of GRUB or ISOLINUX that starts a kernel')
    return other
  }
  const { path, entry } = found
  say(`${path}: kernel ${entry.kernel}, initramfs ${entry.ramdisk}`)
  await FormatError.during(`looking for the kernel of ${path}`, () => iso.find(entry.kernel))
  const file = await FormatError.during(`looking for the initramfs of ${path}`, () => iso.find(entry.ramdisk))
  signal.throwIfAborted()
  const ramdisk = iso.contents(file)
  if (file.size === 0) throw new FormatError(`the initramfs ${entry.ramdisk} is empty`)
  const live = { ...other, kernelArguments: entry.append }
  const configFiles = await readIsoConfig(iso, entry.append)
  for (const { name } of configFiles) say(`the medium has ${name} for the agent`)
  if (namesIronic(entry.append)) say('the kernel command line names an Ironic: the ramdisk is one with an agent')
  else if (await containsAgent(ramdisk, clock)) say('the ramdisk contains ironic-python-agent')
  else return live
  return { ...live, kind: 'agent', configFiles }
}

async function menuOf(iso: IsoFilesystem): Promise<{ path: string; entry: MenuEntry } | undefined> {
  for (const [paths, read] of [[GRUB_MENUS, grubEntry] as const, [ISOLINUX_MENUS, isolinuxEntry] as const])
    for (const path of paths) {
      const text = await readIsoText(iso, path, MAX_BOOT_MENU_BYTES)
      const entry = text === undefined ? undefined : read(text)
      if (entry) return { path, entry }
    }
  return undefined
}

/** Undefined for a file that the medium lacks. */
async function readIsoText(iso: IsoFilesystem, path: string, most: number): Promise<string | undefined> {
  try {
    const { offset, size, folder, name } = await iso.find(path)
    if (folder) return undefined
    if (size > most) throw new FormatError(`${path} of ${size} bytes is too large`)
    return Buffer.from(await iso.contents({ offset, size, folder, name }).read(0, size)).toString('utf8')
  } catch (error) {
    if (error instanceof NotOnIso) return undefined
    throw error
  }
}

async function readIsoConfig(iso: IsoFilesystem, append: string): Promise<ConfigFile[]> {
  if (!CONFIG_LABELS.includes(iso.volume.toUpperCase())) return []
  if (kernelParameters(append)['boot_method'] !== 'vmedia') return []
  const files: ConfigFile[] = []
  for (const folder of CONFIG_FOLDERS) {
    const entries = await iso.list(folder).catch((error: unknown) => {
      if (error instanceof FormatError) return []
      throw error
    })
    for (const { name } of entries) {
      const text = await readIsoText(iso, `${folder}/${name}`, MAX_AGENT_CONFIG_BYTES)
      if (text !== undefined) files.push({ name: `/${folder}/${name}`, text })
    }
  }
  return files
}

/** Reads the whole initramfs, as a kernel does. One that cannot be unpacked has no agent that could start. */
async function containsAgent(ramdisk: ByteSource, clock: Clock): Promise<boolean> {
  if (detectCompression(Buffer.from(await ramdisk.read(0, 6))) === 'raw' && !(await isCpio(ramdisk))) return false
  let found = false
  try {
    await readInitramfs(ramdisk, clock, (path) => {
      found ||= /(^|\/)ironic[-_]python[-_]agent/.test(path)
      return false
    })
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    throw new FormatError(`the kernel cannot unpack the initramfs: ${errorChain(error).join(': ')}`, error)
  }
  return found
}

const isCpio = async (ramdisk: ByteSource): Promise<boolean> =>
  Buffer.from(await ramdisk.read(0, 5)).toString('latin1') === '07070'
