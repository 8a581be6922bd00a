import { minutes, seededRandom, randomUniform } from '../../base/runtime/index.js'
import type { Fault } from '../../control/index.js'
import { pickRandom, randomFault } from './random-faults.js'

/**
 * Wish of a node's owner from a moment on. `deployed` is a deployment with a config of its own; `replaced` takes
 * the node and its machine away and enrolls a new one under the same name. The last three are done once, and not missed.
 */
export type NodeGoal = 'deployed' | 'available' | 'replaced' | 'rebooted' | 'powered off' | 'aborted'

/** Something that a node's owner does. */
export interface ChaosAction {
  /** Name of the node. */
  node: string
  /** Milliseconds of lab time since the lab began. */
  at: number
  wish: NodeGoal
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
export const nodeNumberOf = (name: string): number => Number(/\d+$/.exec(name)![0])

const WISHES: readonly NodeGoal[] = [
  ...(['deployed', 'deployed', 'deployed', 'available', 'available'] as const),
  ...(['replaced', 'rebooted', 'powered off', 'aborted', 'aborted'] as const),
]

/** Lab time between two wishes for one node. */
const GOAL_INTERVAL = minutes(2)
/** Faults for each node in ten minutes. */
const FAULTS_PER_NODE = 10

/** Makes a plan of random deployments and faults. The part of a node depends on the seed and its name only. */
export function randomPlan({ seed, nodes, duration }: Pick<ChaosPlan, 'seed' | 'nodes' | 'duration'>): ChaosPlan {
  const actions: ChaosAction[] = []
  const faults: Fault[] = []
  for (const node of nodes) {
    const random = seededRandom(seed * 10_007 + nodeNumberOf(node))
    actions.push({ node, at: 0, wish: 'deployed' })
    for (
      let at = randomUniform(random, 0, GOAL_INTERVAL);
      at < duration;
      at += randomUniform(random, 0, 2 * GOAL_INTERVAL)
    )
      actions.push({ node, at: Math.round(at), wish: pickRandom(random, WISHES) })
    const count = Math.max(1, Math.round((FAULTS_PER_NODE * duration) / minutes(10)))
    for (let left = count; left > 0; left--) faults.push(randomFault(random, node, duration))
  }
  return { seed, nodes, duration, actions, faults }
}
