import {
  conditionOf,
  withCondition,
  withConditions,
  type Condition,
  type ConditionChange,
  type InternalReleaseImage,
  type KubeNode,
  type MachineConfigNode,
  type ReleaseBundle,
} from '../../../../../base/kubernetes/index.js'
import { defined, type Clock } from '../../../../../base/runtime/index.js'
import { NODE_RELEASE_DEGRADED, nodeList, RELEASE_REPOSITORY } from './internal-release-names.js'

// Reasons and messages of machine-config-operator 7ff337a pkg/controller/internalreleaseimage/aggregation.go and
// internalreleaseimage_controller.go updateInternalReleaseImageStatusWithReleases.

/** The registries of a control plane, as they are found. */
export interface FoundRegistries {
  /** `api-int.lab.example:22625` */
  host: string
  /** False while the address answers on no node. */
  isServed: boolean
  /** Reports of the daemons of the control plane, in the order of names. */
  reports: readonly MachineConfigNode[]
  nodes: readonly KubeNode[]
  /** Pullspec of the cluster's release image, which counts until a node has reported. */
  payload: string
  /** Failure of the controller itself. */
  failure?: string
}

type ReleaseStatus = NonNullable<InternalReleaseImage['status']>
type Degraded = ConditionChange & { type: 'Degraded' }

const NOT_AVAILABLE = 'The specified release image is not available'
const SEE_REPORT = ' See the related MachineConfigNode resource status for more details.'

/** Status of the releases that a cluster asks its control plane for. */
export function internalReleaseStatus(
  { metadata, spec, status }: InternalReleaseImage,
  found: FoundRegistries,
  clock: Clock,
): ReleaseStatus {
  const troubled = troubledNodes(found)
  const problem = overallProblem(found, troubled)
  const own = found.failure === undefined ? problem : syncFailure(found.failure)
  const conditions = withCondition(status?.conditions, { ...own, observedGeneration: metadata.generation }, clock)
  const isBefore = found.reports.length === 0 && (found.isServed || found.nodes.length === 0)
  if (isBefore)
    return {
      conditions,
      releases: status?.releases ?? spec.releases.map(({ name }) => installedBundle(name, found, clock)),
    }
  const parts = { found, troubled, problem, before: status, clock }
  return { conditions, releases: spec.releases.map(({ name }) => bundleStatus(name, parts)) }
}

const trouble = (reason: string, message: string): Degraded => ({ type: 'Degraded', status: 'True', reason, message })

const syncFailure = (why: string): Degraded => trouble('SyncError', `Error syncing InternalReleaseImage: ${why}`)

/** The bundle that a cluster was installed from, before a node has reported it. */
function installedBundle(name: string, { payload }: FoundRegistries, clock: Clock): ReleaseBundle {
  const message = 'Release bundle is available'
  const conditions = withCondition([], { type: 'Available', status: 'True', reason: 'Installed', message }, clock)
  return { name, image: payload, conditions }
}

interface TroubledNodes {
  notReady: readonly string[]
  degraded: readonly string[]
}

const isReadyNode = (node: KubeNode | undefined): boolean =>
  conditionOf(node?.status?.conditions, 'Ready')?.status === 'True'

const isDegradedReport = ({ status }: MachineConfigNode): boolean =>
  conditionOf(status?.conditions, NODE_RELEASE_DEGRADED)?.status === 'True'

function troubledNodes({ reports, nodes }: FoundRegistries): TroubledNodes {
  const names = reports.map(({ metadata }) => metadata.name)
  return {
    notReady: names.filter((name) => !isReadyNode(nodes.find(({ metadata }) => metadata.name === name))),
    degraded: reports.filter(isDegradedReport).map(({ metadata }) => metadata.name),
  }
}

/** The last troubled node in the order of names decides, as in the real loop. */
function overallProblem({ host, isServed, nodes }: FoundRegistries, { notReady, degraded }: TroubledNodes): Degraded {
  if (nodes.length > 0 && !isServed) return trouble('ApiIntNotAvailable', `Unable to reach any registry via ${host}`)
  const lastDegraded = degraded.at(-1) ?? ''
  const lastNotReady = notReady.at(-1) ?? ''
  if (degraded.length > 0 && lastDegraded >= lastNotReady)
    return trouble('SomeRegistriesUnavailable', `The following nodes are degraded: ${nodeList(degraded)}.${SEE_REPORT}`)
  if (notReady.length > 0) {
    const message = `The following nodes are not ready: ${nodeList(notReady)}. See the related Node resource status for more details.`
    return trouble('SomeNodesUnavailable', message)
  }
  const message = 'All the release images are available'
  return { type: 'Degraded', status: 'False', reason: 'AllReleasesAvailable', message }
}

interface BundleParts {
  found: FoundRegistries
  troubled: TroubledNodes
  problem: Degraded
  before: ReleaseStatus | undefined
  clock: Clock
}

function bundleStatus(name: string, { found, troubled, problem, before, clock }: BundleParts): ReleaseBundle {
  const { host, reports, isServed } = found
  const known = before?.releases.find((release) => release.name === name)?.conditions
  const isAway = problem.status === 'True' && !isServed
  const reported = isAway ? undefined : reportedBundle(name, reports, troubled)
  const change = bundleProblem(problem, troubled)
  if (!reported) {
    const degraded = isAway ? { ...change, message: problem.reason! } : change
    const available: ConditionChange = {
      type: 'Available',
      status: 'False',
      reason: isAway ? problem.reason! : 'ReleaseImageNotAvailable',
      message: NOT_AVAILABLE,
    }
    return { name, image: unknownImage(host), conditions: withConditions(known, [available, degraded], clock) }
  }
  const { image, conditions = [] } = reported
  const all: Condition[] = problem.status === 'True' ? withCondition(conditions, change, clock) : conditions
  return { name, ...defined({ image: image?.replace(/^[^/]+/, host) }), conditions: all }
}

/** The report of a node that is well wins over others. */
function reportedBundle(
  name: string,
  reports: readonly MachineConfigNode[],
  { notReady, degraded }: TroubledNodes,
): ReleaseBundle | undefined {
  const isWell = ({ metadata }: MachineConfigNode): boolean => ![...notReady, ...degraded].includes(metadata.name)
  const bundleIn = ({ status }: MachineConfigNode) =>
    status?.internalReleaseImage?.releases.find((release) => release.name === name)
  const having = reports.filter((report) => bundleIn(report) !== undefined)
  const best = having.findLast(isWell) ?? having[0]
  return best && bundleIn(best)
}

/** The degraded condition of a single release, whose sentences differ a little. */
function bundleProblem(problem: Degraded, { notReady }: TroubledNodes): Degraded {
  if (problem.status === 'False') return trouble('ReleaseImageNotAvailable', NOT_AVAILABLE)
  if (problem.reason !== 'SomeNodesUnavailable') return problem
  return { ...problem, message: `The following nodes are not ready: ${nodeList(notReady)}.` }
}

/** Name of an image that is not known: a digest of zeros. */
const unknownImage = (host: string): string => `${host}/${RELEASE_REPOSITORY}@sha256:${'0'.repeat(64)}`
