import type { HttpThrough } from '../../base/bytes/index.js'
import {
  agentConfig,
  openImageService,
  type AgentConfigOptions,
  type ImageService,
  type LiveImageFiles,
  type LiveUrls,
} from '../../coreos/index.js'
import { bootsIso, type DeployImages, type StoreView } from '../../ironic-mock/index.js'
import { defined, urlSafeToken, type Clock, type Logger, type Random } from '../../base/runtime/index.js'
import { formatClientValue, type NodeRecord } from '../../base/wire/index.js'
import { openOnSavedPort } from '../addresses/saved-port.js'
import type { StateFolder } from '../state/state-folder.js'

/** Live CoreOS images that a stage serves to its machines. */
export interface LiveImagesRequest {
  /** Files, one set for each architecture. */
  files: readonly LiveImageFiles[]
  /** Nodes without deploy images of their own boot these images; otherwise only nodes that name them. */
  byDefault: boolean
  /** Options of the agent in the images; default: it reports to this Ironic. */
  agent?: Partial<AgentConfigOptions>
  /** Listening address; default 127.0.0.1 with a free port, which is saved. */
  host?: string
  port?: number
  /** Names by which clients may call besides those of this host. */
  allowedHosts?: readonly string[] | undefined
}

interface LiveImageSurroundings {
  ironicUrl: string
  store: Pick<StoreView, 'records'>
  folder: StateFolder | null
  clock: Clock
  random: Random
  logger: Logger
  /** Sees each request. `nodeOf` finds the node whose images a path is of. */
  through: (nodeOf: (path: string) => string | undefined) => HttpThrough
}

export interface LiveImages extends AsyncDisposable {
  readonly service: ImageService
  /** Default deploy images for a node. */
  imagesFor: (node: Readonly<NodeRecord>) => DeployImages | undefined
  /** The images for a node, whether it boots them or not. */
  urlsOf: (node: Readonly<NodeRecord>) => LiveUrls | undefined
  /** Withdraws the images of a deleted node. */
  forget(node: string): void
}

/**
 * Serves live images whose config starts an agent that reports to this Ironic: common images, and images for each node
 * with the node's name as host name.
 *
 * @throws UserError for files that are not live images, invalid options of the agent, an address in use
 */
export async function openLiveImages(request: LiveImagesRequest, parts: LiveImageSurroundings): Promise<LiveImages> {
  const { files, byDefault, host = '127.0.0.1', port: wanted = 0, allowedHosts } = request
  const { ironicUrl, store, folder, clock, random, logger, through } = parts
  const configs = new NodeConfigs(request.agent, ironicUrl, store)
  const seen = through((path) => service.nodeOf(path))
  const secret = folder?.remembered('image-secret') ?? urlSafeToken(random)
  folder?.remember('image-secret', secret)
  const lost = 'machines that are booting no longer find their images; reboot them'
  const service = await openOnSavedPort('image-port', lost, { folder, logger, wanted }, (port) =>
    openImageService({
      files,
      config: configs.common(),
      configOf: (node) => configs.of(node),
      secret,
      host,
      port,
      allowedHosts,
      clock,
      random,
      logger,
      through: seen,
    }),
  )
  const publish = (node: Readonly<NodeRecord>) =>
    service.publish(
      node.uuid,
      node.properties.cpu_arch == null ? undefined : formatClientValue(node.properties.cpu_arch),
    )
  // Machines from an earlier start still use the URLs of their images.
  for (const { record } of store.records.nodes.values()) publish(record)
  return {
    service,
    imagesFor: (node) => {
      const urls = publish(node)
      return urls && byDefault ? deployImages(node, urls) : undefined
    },
    urlsOf: publish,
    forget: (node) => {
      configs.forget(node)
      service.withdraw(node)
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

/** The images that a node boots by its boot interface. */
function deployImages(node: Readonly<NodeRecord>, { iso, pxe }: LiveUrls): DeployImages | undefined {
  if (bootsIso(node) && iso !== null) return { iso }
  return pxe === null ? undefined : { kernel: pxe.kernel, ramdisk: pxe.ramdisk, append: pxe.append }
}

/** The configs that live images start their agents with. */
class NodeConfigs {
  readonly #agent: AgentConfigOptions
  readonly #store: Pick<StoreView, 'records'>
  /** Kept, since the service reads the config for each range of each download. */
  readonly #made = new Map<string, { hostname: string; config: string }>()

  constructor(agent: Partial<AgentConfigOptions> | undefined, ironicUrl: string, store: Pick<StoreView, 'records'>) {
    this.#store = store
    this.#agent = {
      ironicUrls: [ironicUrl],
      // The lab has no separate inspector; Ironic's API takes the inspection data.
      ...defined({
        inspectorUrls: agent?.template === 'original' ? [`${ironicUrl}/v1/continue_inspection`] : undefined,
      }),
      ...agent,
    }
  }

  /** The config of the images that are not of a node. */
  common(): string {
    return this.#text({})
  }

  /** The config with the name of a node; undefined when its name is no valid host name. */
  of(uuid: string): string | undefined {
    const hostname = this.#store.records.nodes.get(uuid)?.record.name
    if (hostname == null || !HOST_NAME.test(hostname)) return undefined
    const known = this.#made.get(uuid)
    if (known?.hostname === hostname) return known.config
    const config = this.#text({ hostname })
    this.#made.set(uuid, { hostname, config })
    return config
  }

  forget(uuid: string): void {
    this.#made.delete(uuid)
  }

  #text(own: Partial<AgentConfigOptions>): string {
    return JSON.stringify(agentConfig({ ...this.#agent, ...own }))
  }
}

/** Node names that are valid host names. Nodes with other names get theirs from DHCP. */
const HOST_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i
