import { isInternalRegistry } from '../../../base/registry/index.js'
import { defined, UserError } from '../../../base/runtime/index.js'
import { ERRORS } from '../errors.js'
import { isOlder, readVersion } from '../actors/cluster-version-operator/release-version.js'
import { STREAMS_SINCE, type OwnRelease } from '../rehearsal/own-releases.js'
import type { Scenario, ScenarioRelease } from '../rehearsal/scenario.js'
import type { OwnCluster } from './own-cluster.js'
import type { RepositoryMirrors } from '../site/container-registry.js'
import { internalMirrors } from '../site/internal-registry.js'
import { internalDomain, internalReleaseOf, withoutInstaller } from './own-internal-release.js'
import { isMirrorAlone, mirrorsOf } from './own-mirrors.js'
import { isOfRhel9, type ClusterStream } from './own-streams.js'
import { madeCoreosVersion, nextMinor } from './release-names.js'

/** The release that a cluster is to go to. */
export interface UpgradeTarget {
  /** `--to` as it was given; undefined for the default. */
  named: string | undefined
  /** Contents of the release image; undefined for a version, whose release is made. */
  own?: OwnRelease
}

/** Keys of the two releases in the scenario. */
export const NOW = 'now'
export const NEXT = 'next'

/** True if a release is named by its version alone. */
export const isVersion = (named: string): boolean => readVersion(named) !== undefined

/** The version that is rehearsed where none is named: an upgrade under way, an available one, or the next minor release. */
function defaultTarget({ folder, version, upgradingTo }: OwnCluster): string {
  if (upgradingTo !== undefined && isOlder(version, upgradingTo)) return upgradingTo
  const { availableUpdates } = folder.objects.ClusterVersion[0]!.status
  const offered = (availableUpdates ?? []).flatMap((one) => one.version ?? []).filter((one) => isOlder(version, one))
  return (
    offered.reduce<string | undefined>((best, one) => (best && isOlder(one, best) ? best : one), undefined) ??
    nextMinor(version)
  )
}

/**
 * The scenario of a cluster's upgrade; its steps are played elsewhere.
 *
 * @throws UserError `cluster-target` (usage) for a release that is not newer
 */
export function ownScenario(cluster: OwnCluster, target: UpgradeTarget): Scenario {
  const next = releaseOf(cluster, target)
  checkTarget(cluster, next.version)
  const { version, coreos, base } = cluster
  const family = /^\d+\.\d{8}\./.test(coreos) ? 'fcos' : 'rhcos'
  const isInternal = internalReleaseOf(cluster) !== undefined
  const mirrors = isInternal ? internalMirrorsOf(cluster) : mirrorsOf(cluster.folder.objects)
  return {
    name: scenarioName(cluster.name),
    title: `the upgrade from ${version} to ${next.version}`,
    releases: {
      [NOW]: {
        version,
        coreos,
        family,
        ...defined({ base: base === coreos ? undefined : base }),
        ...releaseStreams(cluster.streams),
      },
      [NEXT]: next,
    },
    cluster: {
      release: NOW,
      network: isInternal ? 'internal' : isMirrorAlone(mirrors) ? 'disconnected' : 'connected',
      ...defined({ domain: isInternal ? internalDomain(cluster.folder.objects, mirrors) : undefined }),
      ...defined({ mirrors: mirrors.length === 0 ? undefined : mirrors }),
    },
    steps: [],
  }
}

/** Mirrors of a cluster whose control plane serves its release, made up where its mirror sets are not in the folder. */
export function internalMirrorsOf({ folder }: OwnCluster): RepositoryMirrors[] {
  const own = withoutInstaller(mirrorsOf(folder.objects))
  const places = own.flatMap(({ mirrors }) => mirrors.map((place) => place.split('/')[0]!))
  if (places.some((host) => isInternalRegistry(host))) return own
  return [...own, ...internalMirrors(internalDomain(folder.objects, own))]
}

function releaseOf(cluster: OwnCluster, { named, own }: UpgradeTarget): ScenarioRelease {
  if (own) {
    const { version, coreos, base, family, streams, mainStream } = own
    const ofBase = base === coreos ? undefined : base
    return { version, coreos, family, own, ...defined({ base: ofBase, streams, mainStream }) }
  }
  const version = named ?? defaultTarget(cluster)
  const coreos = madeCoreosVersion(cluster.coreos, version)
  const base = cluster.base === cluster.coreos ? undefined : madeCoreosVersion(cluster.base, version)
  const streams = madeStreams(cluster, version)
  return { version, coreos, ...defined({ base: base === coreos ? undefined : base }), ...releaseStreams(streams) }
}

/** Streams of a made release: those of the cluster's own; a first one with streams has RHEL 9 and 10. */
function madeStreams({ streams, coreos }: OwnCluster, version: string): ClusterStream[] {
  if (streams.length > 0)
    return streams.map(({ name, coreos: before }) => ({ name, coreos: madeCoreosVersion(before, version) }))
  const isFirst = (readVersion(version)?.numbers[0] ?? 0) >= STREAMS_SINCE && isOfRhel9(coreos)
  if (!isFirst) return []
  return [
    { name: 'rhel-9', coreos: madeCoreosVersion(coreos, version) },
    { name: 'rhel-10', coreos: madeCoreosVersion('10.0.20260820-0', version) },
  ]
}

/** Streams as a release of a scenario has them: the first is that of its own `coreos`. */
function releaseStreams([main, ...further]: readonly ClusterStream[]): Pick<ScenarioRelease, 'mainStream' | 'streams'> {
  if (!main) return {}
  const streams = Object.fromEntries(further.map(({ name, coreos }) => [name, coreos]))
  return { mainStream: main.name, ...defined({ streams: further.length === 0 ? undefined : streams }) }
}

/** Names of the streams of a scenario's release; undefined for one from before the streams. */
export const streamNamesOf = ({ mainStream, streams = {} }: ScenarioRelease): string[] | undefined =>
  mainStream === undefined ? undefined : [mainStream, ...Object.keys(streams)]

function checkTarget({ version }: OwnCluster, to: string): void {
  const refused = (sentence: string) =>
    new UserError('cluster-target', sentence, { kind: 'usage', remedy: ERRORS['cluster-target'].remedy })
  if (to === version) throw refused(`the cluster runs ${version} already`)
  if (isOlder(to, version)) throw refused(`${to} is older than ${version}, which the cluster runs`)
}

/** A name as scenarios have them. */
const scenarioName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60) || 'cluster'
