import { minutes, seededRandom, uniform } from '../../runtime/index.js'
import type { Fault } from '../faults/fault.js'
import { pick, randomFault } from './random-faults.js'

/**
 * Wish of a node's owner from a moment on. `deployed` is a deployment with a config of its own; `replaced` takes
 * the node and its machine away and enrolls a new one under the same name. The last three are done once, and not missed.
 */
export type Wish = 'deployed' | 'available' | 'replaced' | 'rebooted' | 'powered off' | 'aborted'

/** Something that a node's owner does. */
export interface ChaosAction {
  /** Name of the node. */
  node: string
  /** Milliseconds of lab time since the lab began. */
  at: number
  wish: Wish
}

/** Plan of a run of chaos; the same plan and seed are the same run. */
export interface ChaosPlan {
  seed: number
  /** Names of the nodes. A node's machine depends on its name only. */
  nodes: readonly string[]
  /** Milliseconds of lab time after which all faults are lifted. */
  duration: number
  actions: readonly ChaosAction[]
  faults: readonly Fault[]
}

/** The number in a node's name. */
export const numberOf = (name: string): number => Number(/\d+$/.exec(name)![0])

const WISHES: readonly Wish[] = [
  ...(['deployed', 'deployed', 'deployed', 'available', 'available'] as const),
  ...(['replaced', 'rebooted', 'powered off', 'aborted', 'aborted'] as const),
]

/** Lab time between two wishes for one node. */
const BETWEEN_WISHES = minutes(2)
/** Faults for each node in ten minutes. */
const FAULTS = 10

/** Makes a plan of random deployments and faults. The part of a node depends on the seed and its name only. */
export function randomPlan({ seed, nodes, duration }: Pick<ChaosPlan, 'seed' | 'nodes' | 'duration'>): ChaosPlan {
  const actions: ChaosAction[] = []
  const faults: Fault[] = []
  for (const node of nodes) {
    const random = seededRandom(seed * 10_007 + numberOf(node))
    actions.push({ node, at: 0, wish: 'deployed' })
    for (let at = uniform(random, 0, BETWEEN_WISHES); at < duration; at += uniform(random, 0, 2 * BETWEEN_WISHES))
      actions.push({ node, at: Math.round(at), wish: pick(random, WISHES) })
    const count = Math.max(1, Math.round((FAULTS * duration) / minutes(10)))
    for (let left = count; left > 0; left--) faults.push(randomFault(random, node, duration))
  }
  return { seed, nodes, duration, actions, faults }
}
