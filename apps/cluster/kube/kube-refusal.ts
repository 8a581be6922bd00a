import { UserError } from '../../../base/runtime/index.js'
import type { KubeStatus } from './kube-client.js'

/** A request that the API refused. */
export class KubeRefusal extends UserError {
  override name = 'KubeRefusal'
  readonly status: KubeStatus

  constructor(status: KubeStatus) {
    super('kube-refused', status.message)
    this.status = status
  }
}

/** Whether an error is a refusal with this code: 404 not there, 409 changed meanwhile or there already. */
export const isRefusal = (error: unknown, code: number): error is KubeRefusal =>
  error instanceof KubeRefusal && error.status.code === code
