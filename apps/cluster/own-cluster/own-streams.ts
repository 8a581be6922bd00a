import { defined, isObject } from '../../../base/runtime/index.js'
import type { ClusterPool, OwnCluster } from './own-cluster.js'
import type { OwnObjects, OwnPool } from './own-objects.js'
import { nodeImageConfig } from './node-image-config.js'
import { coreosOfSystem } from './release-names.js'

/** A stream of CoreOS in the cluster's release. */
export interface ClusterStream {
  /** `rhel-9` */
  name: string
  /** Version that its nodes run; made up where none does. */
  coreos: string
  /** Version of its disk images, by `coreos-bootimages`; undefined where that does not name it. */
  base?: string
}

const RHEL_9 = 'rhel-9'
/** A build of a stream of which neither a node nor the boot images say one. */
const UNKNOWN_BUILD = '20260820-0'

/**
 * The streams of a cluster: those that its OSImageStream lists, and those that its pools and its default ask for. The one
 * of RHEL 9 comes first. None for a release from before the streams.
 */
export function streamsOf(objects: OwnObjects): ClusterStream[] {
  const [known] = objects.OSImageStream
  const listed = listedStreams(objects)
  if (!known || listed.length === 0) return []
  const wanted = objects.MachineConfigPool.flatMap(({ spec }) => spec.osImageStream?.name ?? [])
  const names = [...new Set([...listed, defaultStreamOf(objects) ?? listed[0]!, ...wanted])]
  names.sort((a, b) => Number(b === RHEL_9) - Number(a === RHEL_9))
  const versions = versionsByMajor(objects)
  const bases = streamBases(objects)
  const used = new Set<string>()
  return names.map((name) => {
    const major = majorOfStream(name)
    const found = versions.get(major ?? '') ?? bases[name] ?? `${major ?? '9'}.0.${UNKNOWN_BUILD}`
    const coreos = unused(found, used)
    return { name, coreos, ...defined({ base: bases[name] }) }
  })
}

/** Names in the OSImageStream's status; none before the operator has found them. */
const listedStreams = ({ OSImageStream: [known] }: OwnObjects): string[] =>
  (known?.status?.availableStreams ?? []).map(({ name }) => name)

/** The stream of pools that name none; undefined in a cluster without streams. */
export const defaultStreamOf = ({ OSImageStream: [known] }: OwnObjects): string | undefined =>
  known?.spec?.defaultStream ?? known?.status?.defaultStream

/**
 * The stream that a pool asks for: its own, a custom one else that of the workers, else the default
 * (machine-config-operator 7ff337a pkg/controller/common/helpers.go GetEffectiveOSImageStreamName).
 */
export function wantedStreamOf({ metadata, spec }: OwnPool, objects: OwnObjects): string | undefined {
  if (spec.osImageStream) return spec.osImageStream.name
  const isCustom = !['master', 'worker'].includes(metadata.name)
  const workers = objects.MachineConfigPool.find((pool) => pool.metadata.name === 'worker')
  const inherited = isCustom ? workers?.spec.osImageStream?.name : undefined
  return inherited ?? defaultStreamOf(objects)
}

/**
 * The stream that a pool asks for while it is installed: a pool that is paused, or whose configuration is not rendered, runs
 * what it ran before it was asked for another. None for a pool whose nodes run an image of a MachineConfig.
 */
export function installedStream(
  { object, nodes, isPaused }: ClusterPool,
  { streams, folder }: OwnCluster,
): { name: string } | undefined {
  const { osImageStream } = object.spec
  if (streams.length === 0 || !osImageStream || nodeImageConfig(object, folder.objects)) return undefined
  const isRendered = object.status?.conditions?.every(
    ({ type, status }) => type !== 'RenderDegraded' || status !== 'True',
  )
  if (!isPaused && isRendered !== false) return osImageStream
  const running = runningStream(nodes, streams, folder.objects)
  return running === undefined ? osImageStream : { name: running }
}

/** The stream that the nodes of a pool run, by the major versions of RHEL; undefined where they run several. */
function runningStream(
  nodes: readonly string[],
  streams: readonly ClusterStream[],
  objects: OwnObjects,
): string | undefined {
  const own = objects.Node.filter(({ metadata }) => nodes.includes(metadata.name))
  const majors = new Set(own.map(({ status }) => majorOfVersion(coreosOfSystem(status?.nodeInfo?.osImage ?? '') ?? '')))
  const [major] = majors
  const found = streams.filter(({ name }) => majorOfStream(name) === major)
  return majors.size === 1 && found.length === 1 ? found[0]!.name : undefined
}

/** `10` of `rhel-10` */
const majorOfStream = (stream: string): string | undefined => /-(\d+)/.exec(stream)?.[1]

/** Major version of RHEL: 9 of `9.6.20250826-1` and of `418.94.202501010000-0`. */
function majorOfVersion(version: string): string | undefined {
  const [, first = '', second = ''] = /^(\d+)\.(\d+)\./.exec(version) ?? []
  if (first === '') return undefined
  return first.length < 3 ? first : second.slice(0, -1)
}

/** The version that most nodes of each major version of RHEL run. */
function versionsByMajor({ Node: nodes }: OwnObjects): Map<string, string> {
  const counts = new Map<string, number>()
  for (const { status } of nodes) {
    const version = coreosOfSystem(status?.nodeInfo?.osImage ?? '')
    if (version !== undefined) counts.set(version, (counts.get(version) ?? 0) + 1)
  }
  const rarestFirst = [...counts].sort(([, one], [, other]) => one - other)
  return new Map(rarestFirst.map(([version]) => [majorOfVersion(version) ?? '', version]))
}

/** Versions of the disk images for bare metal by stream, as key `streams` of `coreos-bootimages` has them. */
function streamBases({ ConfigMap: maps }: OwnObjects): Record<string, string> {
  const text = maps.find(({ metadata }) => metadata.name === 'coreos-bootimages')?.data?.['streams']
  const streams = parsedObject(text ?? '')
  return Object.fromEntries(
    Object.entries(streams).flatMap(([name, metadata]): [string, string][] => {
      const [, version] = /"metal":\{"release":"([0-9][0-9.]*-[0-9]+)"/.exec(JSON.stringify(metadata)) ?? []
      return version === undefined ? [] : [[name, version]]
    }),
  )
}

/** The members of an object in JSON; none of a text that is another, as one that was edited by hand. */
function parsedObject(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text) as unknown
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** A version, or the next build of it that no other stream has: images are told apart by their versions. */
function unused(version: string, used: Set<string>): string {
  let free = version
  while (used.has(free)) free = free.replace(/\d+$/, (build) => String(Number(build) + 1))
  used.add(free)
  return free
}

export const isOfRhel9 = (coreos: string): boolean => majorOfVersion(coreos) === '9'
