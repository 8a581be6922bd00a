import { authority, bytesSource, serveFiles, sha256Hex, writeIso, type FoundFile } from '../../base/bytes/index.js'
import { urlSafeToken, type Clock, type Logger, type Random } from '../../base/runtime/index.js'
import type { DeployImages } from '../../ironic-mock/index.js'
import { openOnSavedPort } from '../addresses/saved-port.js'
import type { StateFolder } from '../state/state-folder.js'

/** A kernel and its initramfs by URL, with the command line. */
interface NetworkBoot {
  readonly kernel: string
  readonly ramdisk: string
  readonly append: string
}

/** Files that a conductor puts on its HTTP server for machines that boot: an ISO for each node, and scripts of iPXE. */
export interface BootFiles extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string
  /** Kernel and initramfs for nodes without images of their own: only simulated machines boot them. */
  readonly standIn: DeployImages
  /** Makes the ISO of a node's ramdisk, and returns its URL, which names a secret: the command line has the agent's token. */
  publishIso(node: string, append: string): string
  /** Has the boot script of NICs lead to a kernel, or to the local disks. */
  publishScript(node: string, macs: readonly string[], boot: NetworkBoot | 'disk'): void
  /** Takes away the files of a node that is deleted. */
  forget(node: string): void
}

export interface BootFilesOptions {
  readonly host: string
  /** 0 picks a free one, which the state folder keeps. */
  readonly port: number
  /** Host by which machines reach this one. */
  readonly advertise: string
  readonly allowedHosts: readonly string[] | undefined
  readonly folder: StateFolder | null
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** Leads each NIC to its own script, as the file of this name of a real conductor does. */
const FIRST_SCRIPT = '#!ipxe\nchain pxelinux.cfg/${mac:hexhyp}\n'
const STAND_IN = 'a simulated machine takes any kernel with ipa-api-url for the ramdisk of Ironic\n'

/**
 * Serves the boot files of an Ironic whose machines are elsewhere. They outlive the process: machines boot from them again.
 *
 * @throws UserError when it cannot listen
 */
export async function openBootFiles(options: BootFilesOptions): Promise<BootFiles> {
  const { host, port: wanted, advertise, folder, clock, random, logger, allowedHosts } = options
  const secret = folder?.remembered('boot-secret') ?? urlSafeToken(random)
  folder?.remember('boot-secret', secret)
  const published = new PublishedFiles(folder)
  const lost = 'machines that boot now no longer find their ramdisk; deploy their nodes again'
  const server = await openOnSavedPort('boot-port', lost, { folder, logger, wanted }, (port) =>
    serveFiles({
      host,
      port,
      allowedHosts: [advertise, ...(allowedHosts ?? [])],
      find: (path) => fileAt(path, published),
      clock,
      random,
      logger,
    }),
  )
  const url = `http://${authority(advertise, server.port)}`
  return {
    url,
    standIn: { kernel: `${url}/kernel`, ramdisk: `${url}/ramdisk` },
    publishIso: (node, append) => {
      const path = `/${secret}/boot-${node}.iso`
      published.put(node, path, append)
      return url + path
    },
    publishScript: (node, macs, boot) => {
      for (const mac of macs)
        published.put(node, `/pxelinux.cfg/${mac.replaceAll(':', '-')}`, boot === 'disk' ? '' : bootScript(boot))
    },
    forget: (node) => published.forget(node),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const bootScript = ({ kernel, ramdisk, append }: NetworkBoot): string =>
  ['#!ipxe', `kernel ${kernel} ${append} initrd=ramdisk`, `initrd --name ramdisk ${ramdisk}`, 'boot', ''].join('\n')

function fileAt(path: string, published: PublishedFiles): FoundFile {
  if (path === '/boot.ipxe') return plainFile(FIRST_SCRIPT)
  if (path === '/kernel' || path === '/ramdisk') return plainFile(STAND_IN)
  const content = published.at(path)
  if (content === '') return undefined
  return plainFile(path.endsWith('.iso') ? ramdiskIso(content) : content)
}

function plainFile(content: string | Buffer): FoundFile {
  const bytes = Buffer.from(content)
  return {
    source: bytesSource(bytes),
    etag: `"${sha256Hex(bytes).slice(0, 16)}"`,
    modified: 0,
    type: 'application/octet-stream',
    close: () => Promise.resolve(),
  }
}

/** An ISO whose boot menu has the command line, at the places of the one that Ironic makes. */
const ramdiskIso = (append: string): Buffer =>
  writeIso(
    {
      vmlinuz: Buffer.from(STAND_IN),
      initrd: Buffer.from(STAND_IN),
      'EFI/BOOT/grub.cfg': Buffer.from(`linux /vmlinuz ${append} --\ninitrd /initrd\n`),
    },
    { label: 'VMEDIA_BOOT_ISO', at: 0 },
  )

/** Contents of files by their paths, also those of the last start. */
class PublishedFiles {
  readonly #folder: StateFolder | null
  readonly #contents = new Map<string, string>()
  readonly #pathsOf = new Map<string, Set<string>>()

  constructor(folder: StateFolder | null) {
    this.#folder = folder
  }

  /** Empty for a path without a file. */
  at(path: string): string {
    return this.#contents.get(path) ?? this.#folder?.remembered(`boot-file ${path}`) ?? ''
  }

  put(node: string, path: string, content: string): void {
    const paths = this.#pathsOf.get(node) ?? new Set()
    this.#pathsOf.set(node, paths.add(path))
    if (this.at(path) === content) return
    this.#contents.set(path, content)
    this.#folder?.remember(`boot-file ${path}`, content)
  }

  forget(node: string): void {
    for (const path of this.#pathsOf.get(node) ?? []) {
      this.put(node, path, '')
      this.#contents.delete(path)
    }
    this.#pathsOf.delete(node)
  }
}
