import type { Clock, Logger, Random } from '../../runtime/index.js'
import type { KubeClient } from '../kube-client.js'
import type { Behaviours } from './behaviours.js'

/** An act of an actor, or its wait for something: a line of a rehearsal. */
export interface ActorNotice {
  actor: string
  /** One sentence, in the present: `reboots worker-1 into rendered-worker-7c1e`. */
  does: string
  /** The reason, or the thing that it waits for. */
  because?: string
  /** Number of the design document that asks for it, where today's operators do not do so. */
  document?: string | undefined
}

export interface ActorParts {
  kube: KubeClient
  clock: Clock
  random: Random
  logger: Logger
  behaviours: Behaviours
  announce: (notice: ActorNotice) => void
}
