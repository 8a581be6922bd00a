import { IGNITION_FILE, openLiveIso, readInitramfs } from '../../coreos/index.js'
import { type ByteSource, FormatError, maskedUrl, readIso9660 } from '../../base/bytes/index.js'
import { errorChain, type Clock, type ConfigFile } from '../../base/runtime/index.js'
import { agentIso } from './agent-iso.js'
import type { BootNetwork, MediaAccess } from './boot-network.js'
import { kernelParameters, namesIronic } from './kernel-parameters.js'
import { releaseVersion, volumeVersion } from './live-version.js'

/** Parts of a live image that decide how the machine starts. */
export interface LiveImage {
  /**
   * `coreos`: Ignition decides what runs. `agent`: any other ramdisk, assumed to contain the agent as Ironic's own do.
   * `other`: any other ISO, which starts no ramdisk with an agent.
   */
  kind: 'coreos' | 'agent' | 'other'
  /** The kernel's command line, without arguments that the firmware adds. */
  kernelArguments: string
  /** The Ignition config in the initramfs; null for none. */
  config: Uint8Array | null
  /** Whether the medium or the initramfs contains the root filesystem. */
  hasRoot: boolean
  /** Version of CoreOS, from the volume or the initramfs and not from kernel arguments; null when unknown. */
  version: string | null
  /** The agent's configuration files on the medium. */
  configFiles?: readonly ConfigFile[]
}

/** A failed boot, with its outcome. */
export class BootFailed extends Error {
  override name = 'BootFailed'
  constructor(
    readonly outcome: 'no bootable device' | 'kernel panic' | 'emergency shell',
    message: string,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? {} : { cause })
  }
}

export interface Loading {
  network: BootNetwork
  clock: Clock
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * Loads a live ISO from virtual media. Only descriptors, kernel arguments and the embedded archive are read, as a machine
 * reads a disc that it boots.
 *
 * @throws BootFailed
 */
export async function loadIso({ url, ...access }: { url: string } & MediaAccess, loading: Loading): Promise<LiveImage> {
  const { clock, signal, say } = loading
  say(`BIOS: booting virtual media ${maskedUrl(url)}`)
  const image = await openImageFile('the virtual medium', url, loading, access)
  let iso
  try {
    const { volume, find } = await readIso9660(image)
    const isCoreos = await Promise.any([find('COREOS'), find('IMAGES/IGNITION.IMG')]).then(
      () => true,
      () => false,
    )
    signal.throwIfAborted()
    if (!isCoreos) {
      say(`the virtual medium ${volume} is no CoreOS`)
      return await agentIso(image, { clock, signal, say })
    }
    iso = await openLiveIso(image, clock)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof FormatError)) throw liveImageFailure('the virtual medium', url, error)
    throw new BootFailed('no bootable device', `${url} is not a live ISO that boots: ${chained(error)}`, error)
  }
  const { kargs, files, filesystem } = iso
  const kernelArguments = kargs?.current ?? `coreos.liveiso=${filesystem.volume}`
  const wanted = kernelParameters(kernelArguments)['coreos.liveiso']
  if (wanted !== undefined && wanted !== filesystem.volume)
    throw new BootFailed(
      'emergency shell',
      `the kernel arguments look for a volume ${wanted}, and the virtual medium is ${filesystem.volume}`,
    )
  return {
    kind: 'coreos',
    kernelArguments,
    config: bytesOrNull(files.get(IGNITION_FILE)),
    hasRoot: wanted !== undefined,
    version: volumeVersion(filesystem.volume),
  }
}

/** File in every live initramfs of CoreOS. */
const MARK = 'etc/coreos-live-initramfs'
/** dracut's copy of the root filesystem's os-release. */
const OS_RELEASE_PATH = 'usr/lib/initrd-release'
const ROOT_FILE_PATTERN = /^root\.(squashfs|erofs)$/

/**
 * Loads a kernel with its initramfs, as a boot loader gets them over the network.
 *
 * @throws BootFailed
 */
export async function loadPxe(
  source: { kernel: string; ramdisk: string; append: string },
  loading: Loading,
): Promise<LiveImage> {
  const { clock, signal, say } = loading
  say(`iPXE: kernel ${source.kernel}`)
  await firstBytes('the kernel', source.kernel, loading)
  say(`iPXE: initrd ${source.ramdisk}`)
  const ramdisk = await openImageFile('the initramfs', source.ramdisk, loading)
  if (namesIronic(source.append)) {
    await firstBytes('the initramfs', source.ramdisk, loading)
    return { kind: 'agent', kernelArguments: source.append, config: null, hasRoot: true, version: null }
  }
  let hasRoot = false
  let files
  try {
    files = await readInitramfs(ramdisk, clock, (path) => {
      hasRoot ||= ROOT_FILE_PATTERN.test(path)
      return path === MARK || path === OS_RELEASE_PATH || path === IGNITION_FILE
    })
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof FormatError)) throw liveImageFailure('the initramfs', source.ramdisk, error)
    const why = `the kernel cannot unpack ${source.ramdisk}: ${chained(error)}`
    throw new BootFailed('kernel panic', why, error)
  }
  return {
    kind: files.has(MARK) ? 'coreos' : 'agent',
    kernelArguments: source.append,
    config: bytesOrNull(files.get(IGNITION_FILE)),
    hasRoot,
    version: releaseVersion(Buffer.from(files.get(OS_RELEASE_PATH) ?? []).toString()),
  }
}

/** @throws BootFailed `emergency shell` when there is no root filesystem */
export async function mountRoot({ kernelArguments, hasRoot }: LiveImage, loading: Loading): Promise<void> {
  const url = kernelParameters(kernelArguments)['coreos.live.rootfs_url']
  if (url === undefined) {
    if (hasRoot) return
    throw new BootFailed(
      'emergency shell',
      'the initramfs has no root filesystem, and no kernel argument coreos.live.rootfs_url says where it is',
    )
  }
  loading.say(`coreos-livepxe-rootfs: fetching rootfs from ${url}`)
  try {
    await firstBytes('the root filesystem', url, loading)
  } catch (error) {
    if (error instanceof BootFailed) throw new BootFailed('emergency shell', error.message, error)
    throw error
  }
}

async function openImageFile(
  what: string,
  url: string,
  { network, signal }: Loading,
  access: MediaAccess = {},
): Promise<ByteSource> {
  try {
    return await network.open(url, { signal, ...access })
  } catch (error) {
    signal.throwIfAborted()
    throw liveImageFailure(what, url, error)
  }
}

/** Checks that a file is there and not empty. Its contents do not matter: a simulated kernel runs nothing. */
async function firstBytes(what: string, url: string, loading: Loading): Promise<void> {
  const source = await openImageFile(what, url, loading)
  let bytes: Uint8Array
  try {
    bytes = await source.read(0, 512)
  } catch (error) {
    loading.signal.throwIfAborted()
    throw liveImageFailure(what, url, error)
  }
  if (bytes.length === 0) throw new BootFailed('no bootable device', `${what} at ${url} is empty`)
}

const liveImageFailure = (what: string, url: string, error: unknown): BootFailed =>
  new BootFailed('no bootable device', `${what} at ${url} could not be fetched: ${chained(error)}`, error)

const chained = (error: unknown): string => errorChain(error).join(': ')

const bytesOrNull = (bytes: Uint8Array | undefined): Uint8Array | null => (bytes?.length ? bytes : null)
