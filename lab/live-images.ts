import {
  agentConfig,
  openImageService,
  type AgentConfigOptions,
  type ImageService,
  type LiveImageFiles,
  type LiveUrls,
} from '../coreos/index.js'
import { bootsIso, type DeployImages, type StoreView } from '../ironic-mock/index.js'
import { urlSafeToken, type Clock, type Logger, type Random } from '../runtime/index.js'
import { textOf, type NodeRecord } from '../wire/index.js'
import { openOnSavedPort } from './addresses/saved-port.js'
import type { StateFolder } from './state/state-folder.js'

/** Live CoreOS images that a stage serves to its machines. */
export interface LiveImagesRequest {
  /** One an architecture. */
  files: readonly LiveImageFiles[]
  /** Nodes boot them unless they have images of their own; otherwise only those that are told to. */
  byDefault: boolean
  /** How the agent in them is set up; it goes to this Ironic unless told otherwise. */
  agent?: Partial<AgentConfigOptions>
  /** Where to listen; 127.0.0.1, on a free port that is kept, unless told otherwise. */
  host?: string
  port?: number
}

interface Surroundings {
  ironicUrl: string
  store: StoreView
  folder: StateFolder | null
  clock: Clock
  random: Random
  logger: Logger
}

export interface LiveImages extends AsyncDisposable {
  readonly service: ImageService
  /** What a node's ramdisk is booted from when nothing else is said. */
  imagesFor(node: Readonly<NodeRecord>): DeployImages | undefined
  /** A node's own images, whether it boots them or not. */
  urlsOf: (node: Readonly<NodeRecord>) => LiveUrls | undefined
  /** A node has gone. */
  forget(node: string): void
}

/**
 * Serves live images whose config starts an agent that reports to this Ironic: one for all, and one for each node, which
 * has the node's name.
 *
 * @throws UserError for files that are no live images, settings of the agent that cannot be, an address that is taken
 */
export async function openLiveImages(request: LiveImagesRequest, parts: Surroundings): Promise<LiveImages> {
  const { files, byDefault, host = '127.0.0.1', port = 0 } = request
  const { ironicUrl, store, folder, clock, random, logger } = parts
  const agent = {
    ironicUrls: [ironicUrl],
    // An inspector of its own there is not: its part is Ironic's own.
    ...(request.agent?.template === 'original' ? { inspectorUrls: [`${ironicUrl}/v1/continue_inspection`] } : {}),
    ...request.agent,
  }
  const text = (own: Partial<AgentConfigOptions>): string => JSON.stringify(agentConfig({ ...agent, ...own }))
  const secret = folder?.remembered('image-secret') ?? urlSafeToken(random)
  folder?.remember('image-secret', secret)
  // Asked at every range of every download.
  const made = new Map<string, { hostname: string; config: string }>()
  const configOf = (uuid: string): string | undefined => {
    const hostname = store.records.nodes.get(uuid)?.record.name
    if (hostname == null || !HOST_NAME.test(hostname)) return undefined
    const known = made.get(uuid)
    if (known?.hostname === hostname) return known.config
    const config = text({ hostname })
    made.set(uuid, { hostname, config })
    return config
  }
  const open = (at: number) =>
    openImageService({ files, config: text({}), configOf, secret, host, port: at, clock, random, logger })
  const lost = 'machines that are booting no longer find their images'
  const service = port > 0 ? await open(port) : await openOnSavedPort('image-port', lost, { folder, logger }, open)
  const publish = (node: Readonly<NodeRecord>) =>
    service.publish(node.uuid, node.properties.cpu_arch == null ? undefined : textOf(node.properties.cpu_arch))
  // Machines that are on know their names.
  for (const { record } of store.records.nodes.values()) publish(record)
  return {
    service,
    imagesFor: (node) => {
      const urls = publish(node)
      if (!urls || !byDefault) return undefined
      if (bootsIso(node) && urls.iso !== null) return { iso: urls.iso }
      return urls.pxe === null
        ? undefined
        : { kernel: urls.pxe.kernel, ramdisk: urls.pxe.ramdisk, append: urls.pxe.append }
    },
    urlsOf: publish,
    forget: (node) => {
      made.delete(node)
      service.withdraw(node)
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

/** What a machine may be called; other names of nodes are left to DHCP. */
const HOST_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i
