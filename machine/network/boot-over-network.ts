import type { ByteSource } from '../../base/bytes/index.js'
import { errorChain, type Clock } from '../../base/runtime/index.js'
import type { BootNetwork } from '../live/boot-network.js'
import { grubEntry, isolinuxEntry } from './boot-menu.js'
import type { FirmwareFacts } from './ipxe-settings.js'
import { runIpxe, type ScriptEnd, type ScriptPlace } from './ipxe.js'

export interface NetworkBootParts {
  network: BootNetwork
  facts: FirmwareFacts
  clock: Clock
  signal: AbortSignal
  say: (line: string) => void
}

/** Largest boot script or menu. */
const MAX_BOOT_SCRIPT_BYTES = 1024 * 1024

/**
 * Finds out what a machine boots over the network, as a DHCP answer with this URL would lead it there: an iPXE script, a
 * menu of GRUB or PXELINUX, or a folder in which they are looked for by the names that Ironic's boot interfaces write
 * (`boot.ipxe`, `pxelinux.cfg/MAC`, `MAC.conf`).
 */
export async function bootOverNetwork(url: string, parts: NetworkBootParts): Promise<ScriptEnd> {
  const { network, clock, signal, say, facts } = parts
  const place: ScriptPlace = {
    facts,
    clock,
    signal,
    say,
    text: async (file) => readBootScript(await network.open(file, { signal })),
    check: async (file) => {
      const source = await network.open(file, { signal })
      if ((await source.read(0, 1)).length === 0) throw new Error('it is empty')
    },
  }
  say(`PXE: ${url}`)
  if (!new URL(url).pathname.endsWith('/')) return bootFile(url, place)
  const tried: string[] = []
  for (const name of namesFor(facts)) {
    const file = new URL(name, url).href
    const text = await place.text(file).catch((error: unknown) => {
      signal.throwIfAborted()
      tried.push(`${name}: ${errorChain(error).join(': ')}`)
      return undefined
    })
    if (text !== undefined) return bootText(file, text, place)
  }
  return { kind: 'next', why: `${url} has no boot script for this machine: ${tried.join('; ')}` }
}

function namesFor({ macs }: FirmwareFacts): string[] {
  const dashed = macs.map((mac) => mac.replaceAll(':', '-'))
  return [
    'boot.ipxe',
    ...dashed.flatMap((mac) => [`pxelinux.cfg/${mac}`, `pxelinux.cfg/01-${mac}`]),
    ...macs.map((mac) => `${mac}.conf`),
  ]
}

async function bootFile(url: string, place: ScriptPlace): Promise<ScriptEnd> {
  try {
    return await bootText(url, await place.text(url), place)
  } catch (error) {
    place.signal.throwIfAborted()
    return { kind: 'next', why: `${url} could not be fetched: ${errorChain(error).join(': ')}` }
  }
}

async function bootText(url: string, text: string, place: ScriptPlace): Promise<ScriptEnd> {
  if (/^#!(ipxe|gpxe)\b/.test(text)) return runIpxe(url, text, place)
  const [, master] = /^source\s+(\S+)$/m.exec(text) ?? []
  if (master !== undefined) return bootMaster(url, master, place)
  const entry = grubEntry(text) ?? isolinuxEntry(text)
  if (!entry) return { kind: 'next', why: `${url} is neither an iPXE script nor a menu that starts a kernel` }
  const at = (path: string) => new URL(path.replace(/^\/tftpboot\//, ''), url).href
  return { kind: 'kernel', kernel: at(entry.kernel), ramdisk: at(entry.ramdisk), append: entry.append }
}

/** The menu that GRUB's first one names by the MAC address of the NIC that boots. */
async function bootMaster(url: string, master: string, place: ScriptPlace): Promise<ScriptEnd> {
  const { signal } = place
  const tried: string[] = []
  for (const mac of place.facts.macs) {
    const name = master.replace('$net_default_mac', mac).split('/').at(-1)!
    const file = new URL(name, url).href
    if (file === url) break
    const text = await place.text(file).catch((error: unknown) => {
      signal.throwIfAborted()
      tried.push(`${file}: ${errorChain(error).join(': ')}`)
      return undefined
    })
    if (text !== undefined) return bootText(file, text, place)
  }
  return { kind: 'next', why: `${url} leads to no menu for this machine: ${tried.join('; ')}` }
}

async function readBootScript(source: ByteSource): Promise<string> {
  if (source.size > MAX_BOOT_SCRIPT_BYTES) throw new Error(`a boot script of ${source.size} bytes is too large`)
  return Buffer.from(await source.read(0, source.size)).toString('utf8')
}
