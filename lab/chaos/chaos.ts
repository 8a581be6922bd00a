import { defined, minutes, UserError } from '../../base/runtime/index.js'
import type { Fault, JournalEntry } from '../../control/index.js'
import type { InvariantViolation } from './invariants.js'
import { randomPlan, type ChaosAction, type ChaosPlan } from './chaos-plan.js'
import { playChaos, type ChaosOutcome } from './play.js'
import { shrinkList } from './shrink.js'

/** A run of chaos. */
export interface ChaosOptions {
  /** Decides about everything in the run. Default 1. */
  seed?: number
  /** Nodes with a machine each: a number of them, or names as in `node-3`. Default 3. */
  nodes?: number | readonly string[]
  /** Milliseconds of lab time after which all faults are lifted. Default ten minutes. */
  duration?: number
  /** In place of random faults. They name nodes as `node-0`, and lab times since the lab began. */
  faults?: readonly Fault[]
  /** In place of random wishes for the nodes. */
  actions?: readonly ChaosAction[]
  /** Looks for the fewest faults with which the first violation comes again. Default true. */
  shrink?: boolean
  signal?: AbortSignal
  /** Called after each run that shrinks. */
  onShrunk?: (plan: ChaosPlan, runs: number) => void
}

/** Report of a run of chaos. */
export interface ChaosReport extends ChaosOutcome {
  plan: ChaosPlan
  /** The shortest plan that was found with the first violation; null without one, or unshrunk. */
  shortest: { plan: ChaosPlan; violation: InvariantViolation; runs: number } | null
}

/** Runs at most that shrink a failure. */
const MAX_SHRINK_RUNS = 400

/**
 * Lets random things go wrong in random deployments, in virtual time, and looks whether what must always hold still does.
 * Owners of nodes want them deployed, taken back, replaced, rebooted; faults strike between. In the end all faults are
 * lifted, and every node must deploy once more. The same options give the same report.
 *
 * @throws UserError `fault` for a fault that could never strike, or of an unknown node
 *
 * @example
 * import { chaos } from 'ironstage/control'
 *
 * const { violations } = await chaos({ nodes: 2, seed: 7, duration: 120_000 })
 */
export async function chaos(options: ChaosOptions = {}): Promise<ChaosReport> {
  const { seed = 1, nodes = 3, duration = minutes(10), faults, actions, shrink = true, signal, onShrunk } = options
  const names = typeof nodes === 'number' ? undefined : nodes
  const wrong = names?.find((name) => !/^node-\d{1,4}$/.test(name))
  if (wrong !== undefined)
    throw new UserError('fault', `${wrong} is not a name of a node of chaos`, { kind: 'usage', remedy: 'use node-0' })
  if (nodes === 0 || names?.length === 0)
    throw new UserError('fault', 'chaos needs a node', { kind: 'usage', remedy: 'ask for one at least' })
  const all = names ?? Array.from({ length: nodes as number }, (_, number) => `node-${number}`)
  const random = randomPlan({ seed, duration, nodes: all })
  const plan = { ...random, ...defined({ faults, actions }) }
  const outcome = await playChaos(plan, signal ? { signal } : {})
  const [violation] = outcome.violations
  return {
    ...outcome,
    plan,
    shortest: shrink && violation ? await shortestWith(violation, plan, { signal, onShrunk }) : null,
  }
}

/** Every entry of the journal of a plan's run. */
export async function journalOf(plan: ChaosPlan): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = []
  await playChaos(plan, { onEntry: (entry) => void entries.push(entry) })
  return entries
}

/** Leaves out nodes, then faults, then wishes, as long as the same thing goes wrong. */
async function shortestWith(
  violation: InvariantViolation,
  whole: ChaosPlan,
  { signal, onShrunk }: { signal: AbortSignal | undefined; onShrunk: ChaosOptions['onShrunk'] },
): Promise<NonNullable<ChaosReport['shortest']>> {
  let shortest = { plan: whole, violation }
  let runs = 0
  const fails = async (plan: ChaosPlan): Promise<boolean> => {
    if (runs >= MAX_SHRINK_RUNS) return false
    signal?.throwIfAborted()
    runs++
    const { violations } = await playChaos(plan, signal ? { signal } : {})
    const same = violations.find(({ invariant }) => invariant === violation.invariant)
    if (!same) return false
    shortest = { plan, violation: same }
    onShrunk?.(plan, runs)
    return true
  }
  await shrinkList(whole.nodes, (nodes) =>
    nodes.length === 0 ? Promise.resolve(false) : fails(withNodes(whole, nodes)),
  )
  for (let before = Infinity; planSizeOf(shortest.plan) < before;) {
    before = planSizeOf(shortest.plan)
    const { plan } = shortest
    await shrinkList(plan.faults, (faults) => fails({ ...plan, faults }))
    const { plan: fewer } = shortest
    await shrinkList(fewer.actions, (actions) => fails({ ...fewer, actions }))
  }
  return { ...shortest, runs }
}

const planSizeOf = ({ nodes, faults, actions }: ChaosPlan): number => nodes.length + faults.length + actions.length

function withNodes(plan: ChaosPlan, nodes: readonly string[]): ChaosPlan {
  const without = plan.nodes.filter((name) => !nodes.includes(name))
  return {
    ...plan,
    nodes,
    faults: plan.faults.filter(({ match: { node } }) => node === undefined || !without.includes(node)),
    actions: plan.actions.filter(({ node }) => nodes.includes(node)),
  }
}
