import {
  goPattern,
  isMet,
  type BareMetalHost,
  type HostClaim,
  type KubeClient,
  type LabelExpression,
  type Requirement,
} from '../../base/kubernetes/index.js'
import type { Random } from '../../base/runtime/index.js'
import { isPaused } from './annotations.js'

const FAILURE_DOMAIN_LABEL = 'infrastructure.cluster.x-k8s.io/failure-domain'

type Labels = Readonly<Record<string, string>>

/** True if a host is claimed by this claim already. */
export function isClaimedBy({ spec }: BareMetalHost, { metadata }: HostClaim): boolean {
  const { kind, name, namespace, apiVersion = '' } = spec.consumerRef ?? {}
  const isNamed = name === metadata.name && namespace === metadata.namespace
  return isNamed && kind === 'HostClaim' && apiVersion.split('/')[0] === 'metal3.io'
}

/**
 * The host that a claim gets; undefined if none will do (chooseBMH of pkg/hostclaim/hostclaim_manager.go of
 * baremetal-operator 02aa505): one that has the claim as its consumer already, or a random one of those that are available,
 * preferably of the failure domain.
 *
 * @throws SyntaxError for a policy whose expression cannot be read, Error for an operator that Kubernetes does not have
 */
export async function chooseHost(
  kube: KubeClient,
  random: Random,
  claim: HostClaim,
): Promise<BareMetalHost | undefined> {
  const { failureDomain = '' } = claim.spec
  const available: BareMetalHost[] = []
  const namespaces = await acceptableNamespaces(kube, claim)
  const requirements = namespaces.size === 0 ? [] : requirementsOf(claim)
  for (const namespace of namespaces) {
    const { items } = await kube.list('BareMetalHost', { namespace })
    for (const host of items) {
      const { labels = {} } = host.metadata
      if (!requirements.every((one) => isMet(one, labels))) continue
      if (isClaimedBy(host, claim)) return host
      if (isAvailable(host)) available.push(host)
    }
  }
  const near = available.filter(({ metadata }) => metadata.labels?.[FAILURE_DOMAIN_LABEL] === failureDomain)
  const hosts = failureDomain !== '' && near.length > 0 ? near : available
  return hosts[Math.floor(random.next() * hosts.length)]
}

const isAvailable = (host: BareMetalHost): boolean =>
  !host.spec.consumerRef &&
  host.metadata.deletionTimestamp === undefined &&
  !isPaused(host) &&
  // `ready` is what older releases called it.
  ['ready', 'available'].includes(host.status?.provisioning.state ?? '') &&
  !host.status?.errorMessage

/** Namespaces whose HostDeployPolicies let the claim have a host. */
async function acceptableNamespaces(kube: KubeClient, { metadata, spec }: HostClaim): Promise<Set<string>> {
  const { inNamespace = '' } = spec.hostSelector ?? {}
  const { items } = await kube.list('HostDeployPolicy', inNamespace === '' ? {} : { namespace: inNamespace })
  const own = metadata.namespace!
  const { labels = {} } = (await kube.get('Namespace', { name: own })).metadata
  const found = new Set<string>()
  for (const policy of items) {
    const { namespace = '' } = policy.metadata
    const { names, nameMatches = '', hasLabels = [] } = policy.spec?.hostClaimNamespaces ?? {}
    const isEmpty = policy.spec?.hostClaimNamespaces === undefined
    // A namespace that another policy has opened is not looked at again: neither is a wrong expression.
    if (isEmpty || found.has(namespace)) continue
    if (names && !names.includes(own)) continue
    if (nameMatches !== '' && !goPattern(nameMatches).test(own)) continue
    if (hasLabels.every(({ name, value = '' }) => hasLabel(labels, name, value))) found.add(namespace)
  }
  return found
}

const hasLabel = (labels: Labels, name: string, value: string): boolean =>
  Object.hasOwn(labels, name) && (value === '' || labels[name] === value)

/** Labels that a claim asks for. */
function requirementsOf({ spec }: HostClaim): Requirement[] {
  const { matchLabels = {}, matchExpressions = [] } = spec.hostSelector ?? {}
  const equal = Object.entries(matchLabels).map(([key, value]): Requirement => ({
    key,
    operator: 'in',
    values: [value],
  }))
  return [...equal, ...matchExpressions.map(requirementOf)]
}

/** Operators of k8s.io/apimachinery pkg/selection, which a claim names in letters of any size. */
const OPERATORS: Readonly<Record<string, Requirement['operator']>> = {
  in: 'in',
  '=': 'in',
  '==': 'in',
  notin: 'notin',
  '!=': 'notin',
  exists: 'exists',
  '!': '!',
}

/** @throws Error for an operator that there is not */
function requirementOf({ key, operator, values }: LabelExpression): Requirement {
  const known = OPERATORS[operator.toLowerCase()]
  if (!known) throw new Error(`operator: Unsupported value: "${operator}"`)
  return { key, operator: known, values: values ?? [] }
}
