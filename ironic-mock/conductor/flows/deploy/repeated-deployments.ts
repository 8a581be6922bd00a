import { createHash } from 'node:crypto'
import type { NodeRecord } from '../../../../wire/index.js'
import type { ProvisionRequest } from '../../core/conductor.js'
import { VERBS } from '../../core/transitions.js'

/** A deployment that was asked for again, unchanged, after it had failed. */
export interface RepeatedDeployment {
  node: string
  name: string | null
  /** How often in a row it was asked for, from 2. */
  times: number
  /** What the last attempt failed by. */
  error: string | null
}

interface Attempt {
  digest: string
  times: number
}

/**
 * Notices clients that ask for the same deployment over and over. BareMetal Operator does when a custom deployment without
 * an image fails: it finds that the node's image is not the host's (there is none), so it deploys again at once, for ever,
 * and its host never shows an error (BareMetal Operator's source).
 */
export class RepeatedDeployments {
  readonly #attempts = new Map<string, Attempt>()

  /** Notes a request that is about to be made; gives what is to be said of it if it is accepted. */
  note(node: Readonly<NodeRecord>, request: ProvisionRequest): RepeatedDeployment | null {
    const event = VERBS[request.target]?.event
    if (event !== 'deploy' && event !== 'rebuild') return null
    const { configdrive: _, ...instance } = node.instance_info
    const asked = [request.deploy_steps ?? [], request.configdrive ?? null, instance, node.deploy_interface]
    const digest = createHash('sha256').update(JSON.stringify(asked)).digest('hex')
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
  `${name ?? node}: the same deployment is asked for again, for the ${ordinal(times)} time, after it failed: ${error ?? 'no error'}. Nothing of it has changed. BareMetal Operator does so for ever, and shows no error on the host, when a custom deployment without an image fails.`

function ordinal(count: number): string {
  const tens = count % 100
  const ending = tens > 10 && tens < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][count % 10] ?? 'th')
  return `${count}${ending}`
}
