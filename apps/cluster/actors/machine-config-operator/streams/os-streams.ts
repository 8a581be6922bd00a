import type { ActorParts, KubeClient, MachineConfigPool, OsImageStream } from '../../../../../base/kubernetes/index.js'
import { STREAMS_BY_POOL } from '../machine-config-behaviours.js'
import { OS_IMAGE_STREAM } from '../../../admission/stream-policies.js'

// As pkg/osimagestream and pkg/controller/render/render_controller.go of machine-config-operator 7ff337a.

/** An operating system that a release brings: its image and that of its extensions, by digest. */
export type OsStream = NonNullable<OsImageStream['status']>['availableStreams'][number]

/** Release of the operator that has written the object: another one does not render from it. */
export const WRITTEN_BY = 'machineconfiguration.openshift.io/release-image-version'
/** Release image that the streams were found in. */
export const FOUND_IN = 'machineconfiguration.openshift.io/release-payload-image'

/** Systems on RHEL 10, which have no runc. */
export const isRhel10 = (stream: string): boolean => stream === 'rhel-10' || stream === 'centos-10'

/** The stream of a cluster without a chosen one: an upgraded cluster stays on the one of its first release. */
export const builtinStream = (installedVersion: string): string =>
  /\bokd\b/.test(installedVersion) ? 'centos-10' : installedVersion.startsWith('4.') ? 'rhel-9' : 'rhel-10'

/** A pool whose configuration is not rendered, with the reason in the words of the render controller. */
export class PoolRefusal extends Error {
  override name = 'PoolRefusal'
}

/** Pools that are neither of the control plane nor of all workers; they take the stream of the worker pool. */
const isCustomPool = ({ metadata }: MachineConfigPool): boolean => !['master', 'worker'].includes(metadata.name)

type StreamParts = Pick<ActorParts, 'kube' | 'behaviours'>

/** Name of the stream that a pool asks for; undefined for the cluster's default. */
async function wantedStream(pool: MachineConfigPool, { kube, behaviours }: StreamParts): Promise<string | undefined> {
  if (!behaviours.has(STREAMS_BY_POOL)) return undefined
  const own = pool.spec.osImageStream?.name
  if (own !== undefined || !isCustomPool(pool)) return own
  return (await kube.find('MachineConfigPool', { name: 'worker' }))?.spec.osImageStream?.name
}

/**
 * The system that a pool's nodes run; undefined while the streams of the operator's release are not known.
 *
 * @param version release of the operator
 * @throws PoolRefusal for a stream that the release does not bring
 */
export async function streamOfPool(
  pool: MachineConfigPool,
  version: string,
  parts: StreamParts,
): Promise<OsStream | undefined> {
  const streams = await parts.kube.find('OSImageStream', OS_IMAGE_STREAM)
  if (!streams?.status || streams.metadata.annotations?.[WRITTEN_BY] !== version) return undefined
  const { status } = streams
  const name = (await wantedStream(pool, parts)) ?? status.defaultStream
  const found = status.availableStreams.find((each) => each.name === name)
  if (found) return found
  throw new PoolRefusal(missingStream(pool.metadata.name, name))
}

/** Why a pool that asks for a stream of no release is not rendered (render_controller.go getOSImageStreamForPool). */
export const missingStream = (pool: string, stream: string): string =>
  `could not get OSImageStreamSet for pool ${pool}: osimagestreams.machineconfiguration.openshift.io "${stream}" not found`

/** Why a pool is not rendered that asks for a stream while a MachineConfig names its image (generateRenderedMachineConfig). */
export const STREAM_AND_IMAGE =
  'could not generate rendered MachineConfig: cannot override MachineConfig osImageURL and set MachineConfigPool spec.osImageStream.name simultaneously'

/** Why a release without the cluster's default has no streams at all (pkg/osimagestream/osimagestream.go getDefaultStreamSet). */
export const missingDefault = (stream: string, available: readonly string[]): string =>
  'building the OSImageStream: could not find default OSImageStream in the available streams: ' +
  `could not find the requested ${stream} default stream in the list of OSImageStreams [${available.join(' ')}]`

/**
 * The stream of a pool's rendered configuration; undefined for an image that is of none, as one that a MachineConfig names
 * (pkg/controller/node/status.go getOSImageStream).
 */
export async function renderedStream({ spec }: MachineConfigPool, kube: KubeClient): Promise<string | undefined> {
  const { name } = spec.configuration ?? {}
  const { status } = (await kube.find('OSImageStream', OS_IMAGE_STREAM)) ?? {}
  if (name === undefined || !status) return undefined
  const rendered = await kube.find('MachineConfig', { name })
  return status.availableStreams.find(({ osImage }) => osImage === rendered?.spec.osImageURL)?.name
}
