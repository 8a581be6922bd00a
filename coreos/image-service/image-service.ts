import { createHmac } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { openInScope } from '../../base/runtime/index.js'
import {
  bytesSource,
  type FileServerOptions,
  type FoundFile,
  type ConditionalHeaders,
  type Representation,
  serveFiles,
} from '../../base/bytes/index.js'
import { IGNITION_TYPE, negotiate, readIgnition } from '../../ignition/index.js'
import { liveKernelArguments } from '../live/live-kernel-arguments.js'
import { shortDigest, openLiveImage, type LiveImageFiles, type LiveSet } from './live-files.js'
import { customizedInitramfs, customizedIso, plainFile } from './overlays.js'
import { oldRamdisk } from './old-ramdisk.js'

export interface ImageServiceOptions extends Omit<FileServerOptions, 'find'> {
  /** Files of the live CoreOS, one set for each architecture, or for each name. */
  files: readonly LiveImageFiles[]
  /** Common Ignition config, as text, for live systems without a config of their own. */
  config: string
  /** Ignition config of one node; undefined selects the common one. Called for each request. */
  configOf?: (node: string) => string | undefined
  /** Secret from which the unguessable names of nodes' files are derived; the same secret gives the same names. */
  secret: string
  /** Base URL for clients, when it differs from the listening address; without a slash at its end. */
  publicUrl?: string | undefined
  /** Host for clients, when only the host differs from the listening address. */
  publicHost?: string
}

/** URLs of a live CoreOS. */
export interface LiveUrls {
  iso: string | null
  pxe: {
    kernel: string
    ramdisk: string
    rootfs: string
    ignition: string
    /** Kernel arguments that these files need. */
    append: string
  } | null
}

/** Serves live images: as published, with the common config, and with a config for each node. */
export interface ImageService extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly architectures: readonly string[]
  /**
   * URLs of the common images. The ISO contains the common config; a PXE boot fetches it. Undefined for an unknown
   * architecture, or name.
   */
  urls(architecture?: string): LiveUrls | undefined
  /**
   * Serves images for a node until {@link withdraw}, each as an overlay on the shared base file. The initramfs contains
   * the config. Undefined for an unknown architecture, or name.
   */
  publish(node: string, architecture?: string): LiveUrls | undefined
  withdraw(node: string): void
  /** The node whose images a path is of. */
  nodeOf(path: string): string | undefined
  /** Kernel and ramdisk without CoreOS, with the agent in the ramdisk, for simulated machines. */
  readonly oldRamdisk: { kernel: string; ramdisk: string }
}

const DEFAULT_ARCHITECTURE = 'x86_64'
const IPA_BASE_NAME = 'ironic-python-agent'

/**
 * Opens an image service on live images. It customizes the ISO at once, to refuse an invalid or too large config before
 * it serves anything.
 *
 * @throws UserError for files that are not live images, an invalid config, an address in use
 * @example
 * await using images = await openImageService({ files: [{ architecture: 'x86_64', iso: 'live.iso' }], config, ... })
 * images.publish(node.uuid) // { iso: 'http://127.0.0.1:6180/nodes/.../ironic-python-agent.iso', ... }
 */
export async function openImageService(options: ImageServiceOptions): Promise<ImageService> {
  return openInScope(async (scope) => {
    const { files, config, clock } = options
    readIgnition(config, 'the config of the live images')
    const sets = new Map<string, LiveSet>()
    for (const each of files) {
      const set = scope.use(await openLiveImage(each, clock))
      sets.set(set.name, set)
    }
    const images = new ServedImages(sets, options)
    for (const set of sets.values()) if (set.iso) await images.find(`/live/${set.name}/${IPA_BASE_NAME}.iso`, {})
    const { publicHost } = options
    const known = options.publicUrl ?? (publicHost === undefined ? undefined : httpUrl(publicHost, options.port))
    const find = (path: string, headers: ConditionalHeaders): Promise<FoundFile> => images.find(path, headers)
    const server = scope.use(await serveFiles({ ...options, publicUrl: known, find }))
    const url = options.publicUrl ?? (publicHost === undefined ? server.url : httpUrl(publicHost, server.port))
    const old = `${url}/ramdisk/${IPA_BASE_NAME}`
    return {
      url,
      port: server.port,
      architectures: [...sets.keys()],
      oldRamdisk: { kernel: `${old}.kernel`, ramdisk: `${old}.initramfs` },
      urls: (architecture = DEFAULT_ARCHITECTURE) => {
        const set = sets.get(architecture)
        return set && urlsOf(set, url, `${url}/live/${architecture}/${IPA_BASE_NAME}`, false)
      },
      publish: (node, architecture = DEFAULT_ARCHITECTURE) => {
        const set = sets.get(architecture)
        return set && urlsOf(set, url, `${url}/nodes/${images.publish(node, architecture)}/${IPA_BASE_NAME}`, true)
      },
      withdraw: (node) => images.withdraw(node),
      nodeOf: (path) => images.nodeOf(path),
      [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
    }
  })
}

const httpUrl = (host: string, port: number): string => `http://${isIPv6(host) ? `[${host}]` : host}:${port}`

/** @param own whether the initramfs contains the config */
function urlsOf(set: LiveSet, url: string, stem: string, own: boolean): LiveUrls {
  const rootfs = `${url}/live/${set.name}/${IPA_BASE_NAME}.rootfs`
  const ignition = `${stem}.ign`
  const pxe = {
    kernel: `${url}/live/${set.name}/${IPA_BASE_NAME}.kernel`,
    ramdisk: `${stem}.initramfs`,
    rootfs,
    ignition,
    append: liveKernelArguments({ rootfsUrl: rootfs, ...(own ? { ignition: true } : { ignitionUrl: ignition }) }),
  }
  return { iso: set.iso ? `${stem}.iso` : null, pxe: set.pxe ? pxe : null }
}

interface NodeImageEntry {
  node: string
  architecture: string
  /** Customized files, made on the first request, and again when the config changes. */
  customized: Map<string, { config: string; representation: Promise<Representation> }>
  /** The current config, and when it was first seen, in milliseconds since the epoch. */
  seen: { config: string; at: number } | undefined
}

/** The served files, by path. */
class ServedImages {
  readonly #sets: ReadonlyMap<string, LiveSet>
  readonly #options: ImageServiceOptions
  readonly #common = new Map<string, NodeImageEntry>()
  readonly #byName = new Map<string, NodeImageEntry>()

  constructor(sets: ReadonlyMap<string, LiveSet>, options: ImageServiceOptions) {
    this.#sets = sets
    this.#options = options
    for (const architecture of sets.keys()) this.#common.set(architecture, servedImage('', architecture))
  }

  /** @returns the name of its folder */
  publish(node: string, architecture: string): string {
    const name = this.#nameOf(node, architecture)
    if (!this.#byName.has(name)) this.#byName.set(name, servedImage(node, architecture))
    return name
  }

  withdraw(node: string): void {
    for (const architecture of this.#sets.keys()) this.#byName.delete(this.#nameOf(node, architecture))
  }

  nodeOf(path: string): string | undefined {
    return this.#byName.get(/^\/nodes\/([\w-]+)\//.exec(path)?.[1] ?? '')?.node
  }

  #nameOf(node: string, architecture: string): string {
    return createHmac('sha256', this.#options.secret)
      .update(JSON.stringify([node, architecture]))
      .digest('base64url')
  }

  async find(path: string, headers: ConditionalHeaders): Promise<FoundFile> {
    const [, folder, name = '', kind = ''] =
      /^\/(live|nodes|ramdisk)\/(?:([\w-]+)\/)?ironic-python-agent\.(\w+)$/.exec(path) ?? []
    if (folder === 'ramdisk') return name === '' ? oldRamdisk(kind) : undefined
    const entry = folder === 'live' ? this.#common.get(name) : this.#byName.get(name)
    const set = entry && this.#sets.get(entry.architecture)
    if (!set) return undefined
    switch (kind) {
      case 'kernel':
      case 'rootfs':
        return folder === 'live' && set.pxe ? plainFile(set.pxe[kind]) : undefined
      case 'iso':
      case 'initramfs':
        if (kind === 'initramfs' && folder === 'live') return set.pxe && plainFile(set.pxe.initramfs)
        return set[kind === 'iso' ? 'iso' : 'pxe'] && this.#customize(entry, set, kind)
      case 'ign':
        return ignition(this.#config(entry), headers)
      default:
        return undefined
    }
  }

  #customize(entry: NodeImageEntry, set: LiveSet, kind: 'iso' | 'initramfs'): Promise<Representation> {
    const embedded = this.#config(entry)
    const known = entry.customized.get(kind)
    if (known?.config === embedded.config) return known.representation
    const representation =
      kind === 'iso'
        ? customizedIso(set.iso!, embedded)
        : customizedInitramfs(set.pxe!.initramfs, embedded, this.#options.clock)
    entry.customized.set(kind, { config: embedded.config, representation })
    // A failure is not cached.
    representation.catch(() => entry.customized.delete(kind))
    return representation
  }

  #config(entry: NodeImageEntry): { config: string; modified: number } {
    const { config: common, configOf, clock } = this.#options
    const config = (entry.node === '' ? undefined : configOf?.(entry.node)) ?? common
    if (entry.seen?.config !== config) entry.seen = { config, at: clock.now() }
    return { config, modified: entry.seen.at }
  }
}

const servedImage = (node: string, architecture: string): NodeImageEntry => ({
  node,
  architecture,
  customized: new Map(),
  seen: undefined,
})

/** The config in an Ignition spec version that the client accepts. */
function ignition({ config, modified }: { config: string; modified: number }, headers: ConditionalHeaders): FoundFile {
  const { accept } = headers
  const negotiated = negotiate(Array.isArray(accept) ? accept.join(', ') : accept, readIgnition(config))
  if ('refusal' in negotiated) return { refused: 406, why: negotiated.refusal }
  const bytes = Buffer.from(JSON.stringify(negotiated.config))
  return {
    source: bytesSource(bytes),
    etag: `"${shortDigest(bytes)}"`,
    modified,
    type: `${IGNITION_TYPE}; version=${negotiated.version}`,
    headers: { vary: 'accept' },
  }
}
