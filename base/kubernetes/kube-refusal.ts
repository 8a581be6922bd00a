import { UserError } from '../runtime/index.js'
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

/** True if an error is a refusal with this code: 404 for missing, 409 for changed or already existing. */
export const isRefusal = (error: unknown, code: number): error is KubeRefusal =>
  error instanceof KubeRefusal && error.status.code === code

/** Creates an object, unless another client has created it in the meantime. */
export async function createIfAbsent(create: () => Promise<unknown>): Promise<void> {
  try {
    await create()
  } catch (error) {
    if (!isRefusal(error, 409)) throw error
  }
}
