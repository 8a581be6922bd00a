import { sha256Hex } from '../../../../base/bytes/index.js'
import type { NodeRecord } from '../../../../base/wire/index.js'
import type { ProvisionRequest } from '../../core/conductor.js'
import { PROVISION_VERBS } from '../../core/transitions.js'

/** A failed deployment that a client repeats unchanged. */
export interface RepeatedDeployment {
  node: string
  name: string | null
  /** Number of requests in a row, from 2. */
  times: number
  /** Error of the last attempt. */
  error: string | null
}

interface DeploymentAttempt {
  readonly digest: string
  readonly times: number
}

/** The last deployment that was asked for, by node. */
export type RepeatedDeploymentsState = readonly (readonly [node: string, attempt: DeploymentAttempt])[]

/**
 * Detects clients that repeat a failed deployment. BareMetal Operator does so for ever after a custom deployment without
 * an image: the node's image never equals the host's, so that it deploys again at once and its host shows no error
 * (provisioner/ironic Provision).
 */
export class RepeatedDeployments {
  readonly #attempts: Map<string, DeploymentAttempt>

  constructor(from: RepeatedDeploymentsState = []) {
    this.#attempts = new Map(from)
  }

  take(): RepeatedDeploymentsState {
    return [...this.#attempts]
  }

  /** Records a request; returns the repetition, if it is one. */
  note(node: Readonly<NodeRecord>, request: ProvisionRequest): RepeatedDeployment | null {
    const event = PROVISION_VERBS[request.target]?.event
    if (event !== 'deploy' && event !== 'rebuild') return null
    const { configdrive: _, ...instance } = node.instance_info
    const asked = [request.deploy_steps ?? [], request.configdrive ?? null, instance, node.deploy_interface]
    const digest = sha256Hex(JSON.stringify(asked))
    const before = this.#attempts.get(node.uuid)
    const again = node.provision_state === 'deploy failed' && before?.digest === digest
    const times = again ? before.times + 1 : 1
    this.#attempts.set(node.uuid, { digest, times })
    return again ? { node: node.uuid, name: node.name, times, error: node.last_error } : null
  }

  forget(node: string): void {
    this.#attempts.delete(node)
  }
}

export const repetitionText = ({ node, name, times, error }: RepeatedDeployment): string =>
  `${name ?? node}: the same deployment was requested again, for the ${ordinal(times)} time, after it failed: ${error ?? 'no error'}. Nothing in it has changed. BareMetal Operator repeats it forever, and shows no error on the host, when a custom deployment without an image fails.`

function ordinal(count: number): string {
  const tens = count % 100
  const ending = tens > 10 && tens < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][count % 10] ?? 'th')
  return `${count}${ending}`
}
