import { createHmac } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { opening } from '../../runtime/index.js'
import {
  bytesSource,
  type FileServerOptions,
  type Found,
  type Headers,
  type Representation,
  serveFiles,
} from '../../bytes/index.js'
import { IGNITION_TYPE, negotiate, readIgnition } from '../../ignition/index.js'
import { liveKernelArguments } from '../live/kernel-arguments.js'
import { digest, openLiveImage, type LiveImageFiles, type LiveSet } from './live-files.js'
import { customisedInitramfs, customisedIso, plainFile } from './overlays.js'
import { oldRamdisk } from './old-ramdisk.js'

export interface ImageServiceOptions extends Omit<FileServerOptions, 'find'> {
  /** One live CoreOS an architecture. */
  files: readonly LiveImageFiles[]
  /** The config that every live system starts with that has none of its own: Ignition, as text. */
  config: string
  /** The config of a node's own live system; undefined gives it the common one. Asked whenever something is fetched. */
  configOf?: (node: string) => string | undefined
  /** Makes the names of nodes' files, which nobody guesses; the same secret makes the same ones. */
  secret: string
  /** How others reach it, where that is not where it listens: without a slash at its end. */
  publicUrl?: string
  /** The host of that URL, where its port is the one that it listens on. */
  publicHost?: string
}

/** Where the images of a live CoreOS are, by URL. */
export interface LiveUrls {
  iso: string | null
  pxe: {
    kernel: string
    ramdisk: string
    rootfs: string
    ignition: string
    /** Kernel arguments that these need. */
    append: string
  } | null
}

/** Serves live images: as published, customised for all, and customised for each node. */
export interface ImageService extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly architectures: readonly string[]
  /** The stable ones: the ISO has the common config, for PXE it is at a URL. Undefined for an unknown architecture. */
  urls(architecture?: string): LiveUrls | undefined
  /**
   * A node's own: from now until {@link withdraw} they are there, each an overlay on the one base file; the initramfs
   * has the config in it. Undefined for an architecture that there is no image of.
   */
  publish(node: string, architecture?: string): LiveUrls | undefined
  withdraw(node: string): void
  /** A kernel and ramdisk of the old kind, with the agent in it, for simulated machines. */
  readonly oldRamdisk: { kernel: string; ramdisk: string }
}

const DEFAULT_ARCHITECTURE = 'x86_64'
const BASE = 'ironic-python-agent'

/**
 * Opens an image service on live images, the ISO customised at once, so that a config that is too large for it, or one
 * that Ignition would refuse, is known before anything is served.
 *
 * @throws UserError for files that are no live images, a config that is none, an address that is taken
 * @example
 * await using images = await openImageService({ files: [{ architecture: 'x86_64', iso: 'live.iso' }], config, ... })
 * images.publish(node.uuid) // { iso: 'http://127.0.0.1:6180/nodes/.../ironic-python-agent.iso', ... }
 */
export async function openImageService(options: ImageServiceOptions): Promise<ImageService> {
  return opening(async (scope) => {
    const { files, config, clock } = options
    readIgnition(config, 'the config of the live images')
    const sets = new Map<string, LiveSet>()
    for (const each of files) sets.set(each.architecture, scope.use(await openLiveImage(each, clock)))
    const shelf = new Shelf(sets, options)
    for (const set of sets.values()) if (set.iso) await shelf.find(`/live/${set.architecture}/${BASE}.iso`, {})
    const server = scope.use(await serveFiles({ ...options, find: (path, headers) => shelf.find(path, headers) }))
    const { publicHost } = options
    const url = options.publicUrl ?? (publicHost === undefined ? server.url : httpUrl(publicHost, server.port))
    const old = `${url}/ramdisk/${BASE}`
    return {
      ...{ url, port: server.port, architectures: [...sets.keys()] },
      oldRamdisk: { kernel: `${old}.kernel`, ramdisk: `${old}.initramfs` },
      urls: (architecture = DEFAULT_ARCHITECTURE) => {
        const set = sets.get(architecture)
        return set && urlsOf(set, url, `${url}/live/${architecture}/${BASE}`, false)
      },
      publish: (node, architecture = DEFAULT_ARCHITECTURE) => {
        const set = sets.get(architecture)
        return set && urlsOf(set, url, `${url}/nodes/${shelf.publish(node, architecture)}/${BASE}`, true)
      },
      withdraw: (node) => shelf.withdraw(node),
      [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
    }
  })
}

const httpUrl = (host: string, port: number): string => `http://${isIPv6(host) ? `[${host}]` : host}:${port}`

/** @param own whether the initramfs has the config in it */
function urlsOf(set: LiveSet, url: string, stem: string, own: boolean): LiveUrls {
  const rootfs = `${url}/live/${set.architecture}/${BASE}.rootfs`
  const ignition = `${stem}.ign`
  const pxe = {
    ...{ kernel: `${url}/live/${set.architecture}/${BASE}.kernel`, ramdisk: `${stem}.initramfs`, rootfs, ignition },
    append: liveKernelArguments({ rootfsUrl: rootfs, ...(own ? { ignition: true } : { ignitionUrl: ignition }) }),
  }
  return { iso: set.iso ? `${stem}.iso` : null, pxe: set.pxe ? pxe : null }
}

interface Shelved {
  node: string
  architecture: string
  /** Made when first asked for, and again for another config. */
  made: Map<string, { config: string; representation: Promise<Representation> }>
  /** When its config was first seen as it is, in milliseconds since the epoch. */
  seen: { config: string; at: number } | undefined
}

/** What is served, by path. */
class Shelf {
  readonly #sets: ReadonlyMap<string, LiveSet>
  readonly #options: ImageServiceOptions
  readonly #common = new Map<string, Shelved>()
  readonly #byName = new Map<string, Shelved>()

  constructor(sets: ReadonlyMap<string, LiveSet>, options: ImageServiceOptions) {
    this.#sets = sets
    this.#options = options
    for (const architecture of sets.keys()) this.#common.set(architecture, shelved('', architecture))
  }

  /** @returns the name of its folder */
  publish(node: string, architecture: string): string {
    const name = this.#nameOf(node, architecture)
    if (!this.#byName.has(name)) this.#byName.set(name, shelved(node, architecture))
    return name
  }

  withdraw(node: string): void {
    for (const architecture of this.#sets.keys()) this.#byName.delete(this.#nameOf(node, architecture))
  }

  #nameOf(node: string, architecture: string): string {
    return createHmac('sha256', this.#options.secret)
      .update(JSON.stringify([node, architecture]))
      .digest('base64url')
  }

  async find(path: string, headers: Headers): Promise<Found> {
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
        return set[kind === 'iso' ? 'iso' : 'pxe'] && this.#made(entry, set, kind)
      case 'ign':
        return ignition(this.#config(entry), headers)
      default:
        return undefined
    }
  }

  #made(entry: Shelved, set: LiveSet, kind: 'iso' | 'initramfs'): Promise<Representation> {
    const laid = this.#config(entry)
    const known = entry.made.get(kind)
    if (known?.config === laid.config) return known.representation
    const representation =
      kind === 'iso'
        ? customisedIso(set.iso!, laid)
        : customisedInitramfs(set.pxe!.initramfs, laid, this.#options.clock)
    entry.made.set(kind, { config: laid.config, representation })
    // A config that does not fit today may do so when it has changed.
    representation.catch(() => entry.made.delete(kind))
    return representation
  }

  #config(entry: Shelved): { config: string; modified: number } {
    const { config: common, configOf, clock } = this.#options
    const config = (entry.node === '' ? undefined : configOf?.(entry.node)) ?? common
    if (entry.seen?.config !== config) entry.seen = { config, at: clock.now() }
    return { config, modified: entry.seen.at }
  }
}

const shelved = (node: string, architecture: string): Shelved => ({
  ...{ node, architecture, made: new Map(), seen: undefined },
})

/** A config in the version of the spec that the asking machine reads. */
function ignition({ config, modified }: { config: string; modified: number }, headers: Headers): Found {
  const { accept } = headers
  const negotiated = negotiate(Array.isArray(accept) ? accept.join(', ') : accept, readIgnition(config))
  if ('refusal' in negotiated) return { refused: 406, why: negotiated.refusal }
  const bytes = Buffer.from(JSON.stringify(negotiated.config))
  return {
    ...{ source: bytesSource(bytes), etag: `"${digest(bytes)}"`, modified },
    type: `${IGNITION_TYPE}; version=${negotiated.version}`,
    headers: { vary: 'accept' },
  }
}
