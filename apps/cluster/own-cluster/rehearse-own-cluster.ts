import { countText, defined } from '../../../base/runtime/index.js'
import { rehearse, type RehearseOptions, type StoryPlan } from '../rehearsal/rehearse.js'
import type { StoryEnd } from '../rehearsal/story-line.js'
import { clusterFindings, type ClusterFinding } from './cluster-findings.js'
import { gatheredState } from './gathered-state.js'
import { installOwnCluster } from './install-own-cluster.js'
import { actionsText, clusterPolicies } from '../actors/machine-config-operator/daemon/node-disruption.js'
import type { OwnCluster } from './own-cluster.js'
import { SERVES_FROM_NODES } from '../actors/machine-config-operator/machine-config-behaviours.js'
import { internalRegistry } from '../../../base/registry/index.js'
import { availableBundles, internalDomain, internalReleaseOf } from './own-internal-release.js'
import { isMirrorAlone, mirrorsOf } from './own-mirrors.js'
import { nodeImageConfig } from './node-image-config.js'
import { NEXT, ownScenario, streamNamesOf, type UpgradeTarget } from './own-scenario.js'
import { playOwnUpgrade, type PlayedUpgrade } from './play-own-upgrade.js'
import { secretsNote } from './read-cluster-folder.js'
import type { UpgradeReport } from './upgrade-report.js'

export interface OwnRehearsalOptions extends RehearseOptions {
  /** Hears the report, before the last line. */
  onReport: (report: UpgradeReport) => void
}

/** Bytes per second at which nodes pull: a network of 1 Gbit/s. */
const PULL_RATE = 125_000_000

/**
 * Rehearses the upgrade of the user's own cluster.
 *
 * @returns the last line: it does not hold where something blocks the upgrade, or where it has not come to its end
 * @throws UserError `cluster-target` (usage) for a release that is not newer; as `rehearse` does
 */
export function rehearseOwnCluster(
  cluster: OwnCluster,
  target: UpgradeTarget,
  { onReport, ...options }: OwnRehearsalOptions,
): Promise<StoryEnd> {
  const own = options.as === 'document' ? withoutNewerKinds(cluster) : cluster
  const scenario = ownScenario(own, target)
  const next = scenario.releases[NEXT]!
  const to = next.version
  const findings = clusterFindings({ cluster: own, to, ...defined({ streams: streamNamesOf(next) }) })
  const plan: StoryPlan = {
    install: (rehearsed) => installOwnCluster(own, rehearsed),
    play: async (rehearsed, tell) => {
      await gatheredState(own, rehearsed)
      const played = await playOwnUpgrade(own, rehearsed, tell)
      onReport(reportOf(own, { name: scenario.name, to, findings, played, isMade: target.own === undefined }))
      return failuresOf(played, findings, to)
    },
  }
  return rehearse(scenario, options, plan)
}

/** The operators of the design documents know neither streams nor a release that the control plane serves. */
function withoutNewerKinds(cluster: OwnCluster): OwnCluster {
  const { folder } = cluster
  return { ...cluster, streams: [], folder: { ...folder, objects: { ...folder.objects, InternalReleaseImage: [] } } }
}

function failuresOf(played: PlayedUpgrade, findings: readonly ClusterFinding[], to: string): string[] {
  const blocking = findings.filter(({ effect }) => effect === 'blocks').map(({ subject, says }) => `${subject} ${says}`)
  const isExplained = played.refusal === null || blocking.length > 0
  const refused = isExplained ? [] : [`the version operator refuses ${to}: ${played.refusal}`]
  const ended = played.outcome === 'completed' ? [] : played.unsettled
  return [...refused, ...blocking, ...ended]
}

interface ReportParts {
  name: string
  to: string
  findings: readonly ClusterFinding[]
  played: PlayedUpgrade
  isMade: boolean
}

function reportOf(own: OwnCluster, { name, to, findings, played, isMade }: ReportParts): UpgradeReport {
  const { folder, version: from, installed, platform, members, spares, pools } = own
  const { requested, completed, ended, pulled } = played
  const inSeconds = (at: number): number => Math.round((at - requested) / 1000)
  return {
    event: 'report',
    scenario: name,
    actor: 'rehearsal',
    cluster: {
      from,
      to,
      installed,
      platform,
      nodes: members.length,
      hosts: members.filter(({ host }) => host !== undefined).length + spares.length,
      pools: pools.length,
    },
    outcome: played.outcome,
    refusal: played.refusal,
    seconds: { upgrade: completed === null ? null : inSeconds(completed), nodes: inSeconds(ended) },
    findings,
    pools: played.pools,
    streams: played.streams,
    hosts: played.hosts,
    pulled: {
      ...pulled,
      secondsEach: pulled.nodes === 0 ? 0 : Math.round(pulled.bytes / pulled.nodes / PULL_RATE),
      model: PULL_MODEL,
    },
    disruption: disruptionRows(own),
    notPlayed: folder.unplayed,
    notes: [...notesOf(own, isMade), ...played.unsettled.map((sentence) => `it rests, and ${sentence}`)],
  }
}

const PULL_MODEL =
  'each node pulls the node image from a registry at 1 Gbit/s: layers of 900 MiB and 200 MiB that it has not; its BMC takes 3 s, its boot 90 s from disk and 180 s from an image; operators that are not played take their time besides'

function disruptionRows({ folder }: OwnCluster): UpgradeReport['disruption'] {
  const configuration = folder.objects.MachineConfiguration[0]
  const { files, units, sshkey } = clusterPolicies(configuration)
  const defaults = clusterPolicies(undefined).files.map(({ path }) => path)
  const own = configuration?.spec?.nodeDisruptionPolicy ?? {}
  const isOwnFile = (path: string): boolean =>
    !defaults.includes(path) || (own.files ?? []).some((one) => one.path === path)
  const defaultUnits = clusterPolicies(undefined).units.map(({ name }) => name)
  const isOwnUnit = (unit: string): boolean =>
    !defaultUnits.includes(unit) || (own.units ?? []).some(({ name }) => name === unit)
  const reboots = actionsText([{ type: 'Reboot' }])
  return [
    { of: 'node image, kernel arguments, kernel, extensions', does: reboots, isOwn: true },
    ...files.map(({ path, actions }) => ({ of: path, does: actionsText(actions), isOwn: isOwnFile(path) })),
    ...units.map(({ name, actions }) => ({ of: name, does: actionsText(actions), isOwn: isOwnUnit(name) })),
    { of: 'SSH keys', does: actionsText(sshkey), isOwn: true },
    { of: 'any other file or unit', does: reboots, isOwn: true },
  ]
}

function notesOf(own: OwnCluster, isMade: boolean): string[] {
  const { folder, members, platform } = own
  const { objects } = folder
  const isWithoutStreams = own.streams.length === 0 && objects.OSImageStream.length > 0
  const withoutHost = members.filter(({ host }) => host === undefined).length
  const notes = [
    secretsNote(folder.secrets) ?? 'no Secret is in the folder: accounts and passwords are made up',
    ...folder.notes,
  ]
  if (isMade) notes.push('the release is made by its version: name its image with --to for what it really has')
  if (objects.MachineConfigPool.length === 0)
    notes.push('no MachineConfigPool is in the folder: the pools master and worker are made up')
  if (platform !== 'BareMetal')
    notes.push(`the platform ${platform} is not played: its nodes are rehearsed as hosts of bare metal`)
  if (isWithoutStreams)
    notes.push(`streams of CoreOS are not played: all nodes run the system of ${own.version} (${own.coreos})`)
  if (withoutHost > 0 && platform === 'BareMetal')
    notes.push(`${countText(withoutHost, 'node')} without a BareMetalHost: made-up hardware stands for it`)
  if (objects.HardwareData.length === 0 && objects.BareMetalHost.length > 0)
    notes.push('no HardwareData is in the folder: hosts have the hardware of the lab')
  const others = members.filter(({ node }) => !['amd64', undefined].includes(node.status?.nodeInfo?.architecture))
  if (others.length > 0)
    notes.push(
      `${countText(others.length, 'node')} of another architecture ${others.length === 1 ? 'is' : 'are'} rehearsed as x86_64`,
    )
  const mirrors = mirrorsOf(objects)
  const internal = internalReleaseOf(own)
  if (!internal && objects.InternalReleaseImage.length > 0)
    notes.push(`the InternalReleaseImage is played from ${SERVES_FROM_NODES.since} on`)
  if (internal)
    notes.push(
      `the nodes of the control plane serve ${availableBundles(internal).join(', ') || 'the release'} (${internalRegistry(internalDomain(objects, mirrors))}): the cluster has no other way out than registries beside it`,
    )
  else if (mirrors.length > 0)
    notes.push(
      isMirrorAlone(mirrors)
        ? 'releases come from mirrors alone (NeverContactSource): the site is disconnected'
        : 'mirrors are asked first, and then the source of an image',
    )
  const ownImages = own.pools.flatMap(({ object }) => nodeImageConfig(object, objects)?.spec.osImageURL ?? [])
  if (ownImages.length > 0)
    notes.push(
      `a made image, with the system that its nodes run, stands for each of a MachineConfig: ${[...new Set(ownImages)].join(', ')}`,
    )
  const special = objects.MachineConfig.filter(
    ({ spec }) => (spec.extensions ?? []).length > 0 || (spec.kernelType ?? 'default') !== 'default' || spec.fips,
  )
  if (special.length > 0)
    notes.push(
      `extensions, kernel types and FIPS are not played: ${special.map(({ metadata }) => metadata.name).join(', ')}`,
    )
  return notes
}
