import type { Bmcs, ConductorConf, DeployImages } from '../../ironic-mock/index.js'
import type { NodeRecord } from '../../base/wire/index.js'
import { systemRandom, UserError } from '../../base/runtime/index.js'
import { bracketHost } from '../../base/bytes/index.js'
import { addressForBmcs, isEveryAddress } from '../addresses/own-address.js'
import { openRemoteBmcs } from '../bmcs/remote-bmcs.js'
import { openBootFiles } from '../images/boot-files.js'
import type { LiveImages } from '../images/live-images.js'
import type { Connections } from './connections.js'
import type { IronicSettings } from './ironic-settings.js'
import type { StageCore } from './stage-core.js'
import type { StageOptions } from './stage-options.js'

/** The way of an Ironic to machines that are not of its stage. */
export interface Elsewhere {
  readonly bmcs: Bmcs
  /** URL at which the agents of these machines find this Ironic, without `/v1`. */
  readonly ironicUrl: string
  /** Default deploy images for a node. */
  readonly imagesFor: (node: Readonly<NodeRecord>) => DeployImages | undefined
  /** Where machines find their boot files. */
  readonly bootUrl: string
}

interface ElsewhereSurroundings {
  settings: IronicSettings
  connections: Connections
  live: LiveImages | undefined
}

/**
 * Opens the way to machines elsewhere: a client of their BMCs, and a server of what they boot. Undefined where the machines
 * are of the stage.
 *
 * @throws UserError `port-in-use`, and `agent-address` where no address of this host is one for others
 */
export async function openElsewhere(
  { elsewhere, database, network, folder = null }: StageOptions,
  { clock, randomness, probe, events, logger, scope }: StageCore,
  { settings: { conf, service }, connections, live }: ElsewhereSurroundings,
): Promise<Elsewhere | undefined> {
  if (!elsewhere) return undefined
  const { host = '127.0.0.1', allowedHosts } = network ?? {}
  const { publicEndpoint } = service
  // Each of several processes has boot files of its own; the public endpoint is what they share.
  const isOwn = publicEndpoint === null || database !== undefined
  const advertise = isOwn ? await hostForOthers(host, clock) : hostIn(publicEndpoint)
  const files = scope.use(
    await openBootFiles({
      host,
      port: elsewhere.bootPort ?? 0,
      advertise,
      allowedHosts,
      folder,
      clock,
      random: randomness.main,
      logger,
    }),
  )
  events.listen((event) => {
    if (event.kind === 'node-gone') files.forget(event.uuid)
  }, 'always')
  const { powerStateChangeTimeout: powerTimeout } = conf
  const remote = scope.use(
    openRemoteBmcs({
      files,
      probe,
      clock,
      random: systemRandom,
      powerTimeout,
      answerTimeout: elsewhere.answerTimeout,
    }),
  )
  return {
    bmcs: remote.of,
    ironicUrl: publicEndpoint ?? urlFor(connections.url, advertise),
    imagesFor: (node) => live?.imagesFor(node) ?? (namesImages(conf) ? undefined : files.standIn),
    bootUrl: files.url,
  }
}

/** The URL of the API with the host by which others reach this one. */
function urlFor(url: string, host: string): string {
  const { protocol, port } = new URL(url)
  return `${protocol}//${bracketHost(host)}${port === '' ? '' : `:${port}`}`
}

const hostIn = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '')

/** True if the configuration names a ramdisk for all nodes, or for those of an architecture. */
const namesImages = ({ deployIso, deployKernel, deployRamdisk, deployKernelByArch }: ConductorConf): boolean =>
  deployIso !== '' || (deployKernel !== '' && deployRamdisk !== '') || Object.keys(deployKernelByArch).length > 0

/**
 * The URL of an API at which other hosts reach it.
 *
 * @throws UserError `agent-address` where no address of this host is one for others
 */
export const urlForOthers = async (url: string, host: string, clock: StageCore['clock']): Promise<string> =>
  urlFor(url, await hostForOthers(host, clock))

async function hostForOthers(host: string, clock: StageCore['clock']): Promise<string> {
  if (!isEveryAddress(host)) return host
  const found = await addressForBmcs([], clock)
  if (found !== undefined) return found
  throw new UserError('agent-address', `this host has no address besides ${host} by which machines could reach it`, {
    remedy: 'set [api]public_endpoint, in the configuration of Ironic',
  })
}
