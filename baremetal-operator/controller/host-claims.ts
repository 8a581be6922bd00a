import {
  copyJson,
  isSameJson,
  withCondition,
  type ActorParts,
  type BareMetalHost,
  type Condition,
  type HostClaim,
  type ObjectName,
  type ReconcileResult,
  type ResourceController,
  type WatchedKind,
} from '../../base/kubernetes/index.js'
import { defined, seconds } from '../../base/runtime/index.js'
import { sortConditions } from './host-conditions.js'
import { chooseHost, isClaimedBy } from './host-claim-choice.js'

const CLAIM_FINALIZER = 'metal3.io/hostclaim'
const NO_HOST_DELAY = seconds(30)

type ClaimVerdict = Pick<Condition, 'status' | 'reason' | 'message'>

const ASSOCIATED: ClaimVerdict = { status: 'True', reason: 'BareMetalHostAssociated', message: '' }
const refusedClaim = (reason: string, message: string): ClaimVerdict => ({ status: 'False', reason, message })

/**
 * The controller of HostClaims, behind the flag `-hostclaims` (hostclaim_controller.go): it gives a claim a host, and takes
 * it away when the claim goes. Image, power and the rest of the claim's spec reach no host at this release.
 */
export class HostClaimController implements ResourceController {
  readonly name = 'baremetal-operator HostClaim'
  readonly watches: readonly WatchedKind[] = [
    { kind: 'HostClaim' },
    { kind: 'BareMetalHost', keysOf: (at) => this.#claimOf(at) },
  ]
  readonly #parts: ActorParts

  constructor(parts: ActorParts) {
    this.#parts = parts
  }

  /** The claim that a host has as its consumer. */
  async #claimOf(at: ObjectName): Promise<ObjectName[]> {
    const {
      kind,
      name = '',
      namespace,
      apiVersion = '',
    } = (await this.#parts.kube.find('BareMetalHost', at))?.spec.consumerRef ?? {}
    if (kind !== 'HostClaim' || !apiVersion.startsWith('metal3.io/')) return []
    return [{ name, ...defined({ namespace }) }]
  }

  async reconcile(at: ObjectName): Promise<ReconcileResult> {
    const { kube } = this.#parts
    const found = await kube.find('HostClaim', at)
    if (!found) return undefined
    const claim = copyJson(found)
    if (claim.metadata.deletionTimestamp !== undefined) return this.#release(claim)
    const { finalizers = [] } = claim.metadata
    if (finalizers.includes(CLAIM_FINALIZER)) return this.#associate(claim)
    const metadata = { ...claim.metadata, finalizers: [...finalizers, CLAIM_FINALIZER] }
    return this.#associate(await kube.update<'HostClaim'>({ ...claim, metadata }))
  }

  async #associate(claim: HostClaim): Promise<ReconcileResult> {
    if (claim.status?.bareMetalHost) return this.#show(claim, ASSOCIATED)
    const { kube, random, announce } = this.#parts
    let host: BareMetalHost | undefined
    try {
      host = await chooseHost(kube, random, claim)
    } catch (error) {
      await this.#show(claim, refusedClaim('NoBareMetalHost', 'Failed to pick a BaremetalHost for the Host'))
      throw error
    }
    if (!host) {
      await this.#show(claim, refusedClaim('NoBareMetalHost', 'No available host found: requeuing.'))
      return { again: NO_HOST_DELAY }
    }
    try {
      await this.#consume(host, claim)
    } catch (error) {
      const why = 'Failed to set consumer Reference on BareMetalHost'
      await this.#show(claim, refusedClaim('BareMetalHostNotSynchronized', why))
      throw error
    }
    const { name, namespace = '' } = host.metadata
    announce({ actor: 'baremetal-operator', does: `gives ${name} to the HostClaim ${claim.metadata.name}` })
    const status = { ...claim.status, bareMetalHost: { name, namespace } }
    return this.#show({ ...claim, status }, ASSOCIATED)
  }

  async #consume(host: BareMetalHost, { apiVersion, kind, metadata }: HostClaim): Promise<void> {
    const consumerRef = { apiVersion, kind, name: metadata.name, ...defined({ namespace: metadata.namespace }) }
    await this.#parts.kube.update<'BareMetalHost'>({ ...host, spec: { ...host.spec, consumerRef } })
  }

  /** A host that has another consumer by now, or is gone, stays as it is. */
  async #release(claim: HostClaim): Promise<void> {
    const { kube } = this.#parts
    const { finalizers = [] } = claim.metadata
    const at = claim.status?.bareMetalHost
    try {
      const host = at && (await kube.find('BareMetalHost', at))
      if (host && isClaimedBy(host, claim)) {
        const { consumerRef: _claim, ...spec } = host.spec
        await kube.update<'BareMetalHost'>({ ...host, spec })
      }
    } catch (error) {
      await this.#show(claim, refusedClaim('HostClaimDeletionFailed', (error as Error).message))
      throw error
    }
    if (!finalizers.includes(CLAIM_FINALIZER)) return
    const metadata = { ...claim.metadata, finalizers: finalizers.filter((each) => each !== CLAIM_FINALIZER) }
    await kube.update<'HostClaim'>({ ...claim, metadata })
  }

  async #show(claim: HostClaim, associated: ClaimVerdict): Promise<void> {
    const { kube, clock } = this.#parts
    const { metadata, status = {} } = claim
    const set = (conditions: readonly Condition[] | undefined, type: string, verdict: ClaimVerdict): Condition[] =>
      withCondition(conditions, { type, ...verdict, ...defined({ observedGeneration: metadata.generation }) }, clock)
    const known = set(status.conditions, 'Associated', associated)
    const conditions = sortConditions(set(known, 'Ready', summaryOf(known)))
    const shown = { ...status, conditions }
    const current = await kube.get('HostClaim', metadata)
    if (!isSameJson(shown, current.status)) await kube.updateStatus<'HostClaim'>({ ...current, status: shown })
  }
}

/** Conditions that Ready sums up; at this release nothing sets the second and the third. */
const SUMMED = ['Associated', 'Synchronized', 'Provisioned']

/** Cluster API's summary of conditions (util/conditions SetSummaryCondition): those that are missing are unknown. */
function summaryOf(conditions: readonly Condition[]): ClaimVerdict {
  const parts = SUMMED.map((type): ClaimVerdict & { type: string } => {
    const found = conditions.find((each) => each.type === type)
    if (found) return found
    return { type, status: 'Unknown', reason: 'NotYetReported', message: 'Condition not yet reported' }
  })
  const open = parts.filter(({ status }) => status !== 'True')
  const message = open.map(({ type, reason, message: text = '' }) => `* ${type}: ${text || reason}`).join('\n')
  if (open.some(({ status }) => status === 'False')) return { status: 'False', reason: 'IssuesReported', message }
  return open.length > 0
    ? { status: 'Unknown', reason: 'UnknownReported', message }
    : { status: 'True', reason: 'InfoReported', message }
}
