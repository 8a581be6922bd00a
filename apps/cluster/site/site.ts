import { join } from 'node:path'
import { openImageService } from '../../../coreos/index.js'
import { composeStage, type Stage, type StageOptions } from '../../../lab/index.js'
import type { PullPoint } from '../../../machine/index.js'
import {
  openInScope,
  silent,
  temporaryFolder,
  type Clock,
  type Logger,
  type Random,
} from '../../../base/runtime/index.js'
import { CloudInstances } from './cloud-instances.js'
import { InternalRegistry } from './internal-registry.js'
import { IsoCopies } from './iso-copies.js'
import { SiteRegistry, type RepositoryMirrors } from './container-registry.js'
import { SiteNetwork, type Reachability } from './site-network.js'
import { openWebServer, type WebServer } from './web-server.js'

export interface SiteOptions {
  clock: Clock
  random: Random
  logger?: Logger
  /** Default `connected`. */
  reachability?: Reachability
  /** Where repositories are mirrored; their registries are what a disconnected site reaches. */
  mirrors?: readonly RepositoryMirrors[]
  /** Domain of a cluster whose control plane serves its own release: `lab.example`. */
  internalDomain?: string
  /** Further options of the machines and of Ironic. */
  stage?: Partial<Omit<StageOptions, 'clock' | 'random' | 'logger' | 'allow' | 'pullable' | 'liveImages'>>
}

/** Surroundings of a cluster: machines, an Ironic that a pod starts and stops, registries, web servers, their network. */
export interface Site extends AsyncDisposable {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly network: SiteNetwork
  /** Container registries, as pods and nodes reach them. */
  readonly registry: SiteRegistry
  /** The registry of the control plane, in a cluster that was installed without another one. */
  readonly internalRegistry: InternalRegistry | undefined
  /** A web server of the Internet. */
  readonly outside: WebServer
  /** The web server of the site's mirror. */
  readonly mirror: WebServer
  /** Images and machines of a cloud, for clusters that are on one. */
  readonly cloud: CloudInstances
  /** Live ISOs on Ironic's own web server. */
  readonly isoCopies: IsoCopies
  /** Machines with their BMCs, and Ironic, which is stopped at first. */
  readonly stage: Stage
  /** Kernel and ramdisk of releases before the live ISO, as metal3's own web server has them. */
  readonly oldRamdisk: { readonly kernel: string; readonly ramdisk: string }
  /** Folder that the pods of metal3 share: /shared/html/images of their host. */
  readonly shared: string
}

/** Opens a site on one clock, with no pods yet. */
export function openSite(options: SiteOptions): Promise<Site> {
  const { clock, random, logger = silent, reachability = 'connected', mirrors = [] } = options
  return openInScope(async (scope) => {
    const hosts = mirrors.flatMap(({ mirrors: names }) => names.map((name) => name.split('/')[0]!))
    const network = new SiteNetwork({ clock, reachability, mirrors: hosts })
    const registry = new SiteRegistry(network, mirrors)
    const internal = options.internalDomain === undefined ? undefined : new InternalRegistry(options.internalDomain)
    if (internal) registry.serveWhile(internal.host, () => internal.isServed)
    const folder = scope.use(await temporaryFolder())
    const parts = { clock, random, logger }
    const isoCopies = new IsoCopies()
    const outside = scope.use(await openWebServer(network, parts))
    const mirror = scope.use(await openWebServer(null, parts))
    const empty = { files: [], config: JSON.stringify({ ignition: { version: '3.2.0' } }), secret: '' }
    const httpd = scope.use(await openImageService({ ...empty, ...parts, host: '127.0.0.1', port: 0 }))
    const { conf, ...more } = options.stage ?? {}
    const staged = scope.use(
      await composeStage({
        disks: 'described',
        ironic: { profile: 'metal3' },
        ...more,
        ...parts,
        conf: { fetchBootImages: true, ...conf },
        bootNetwork: (boots) => isoCopies.before(boots),
        allow: (url) => network.check(url),
        pullable: (image) => void registry.locate(image),
      }),
    )
    internal?.watch(staged.machines)
    staged.probe.attach<PullPoint>(
      (point, next) => {
        registry.fetched(point.image)
        return next()
      },
      ['pull'],
    )
    await staged.ironic.stop({ keepsDatabase: false })
    return {
      clock,
      random,
      logger,
      network,
      registry,
      internalRegistry: internal,
      outside,
      mirror,
      cloud: new CloudInstances({ stage: staged, clock, random, folder: folder.path }),
      isoCopies,
      stage: staged,
      oldRamdisk: httpd.oldRamdisk,
      shared: join(folder.path, 'images'),
      [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
    }
  })
}
