import type { ApiNode, ProvisionState } from '../../../base/wire/index.js'
import { errorChain, UserError, type Logger } from '../../../base/runtime/index.js'
import { installCoreos, StagedNode, type ServedLab } from '../../../lab/index.js'
import type { UP_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import type { BeginGoal } from '../options/value-words.js'
import { usageError } from '../usage-error.js'

/** A verb of a node's life. */
interface LifeVerb {
  readonly goal: BeginGoal
  readonly target: string
  readonly from: ProvisionState
  readonly to: ProvisionState
  /** True if a node has it behind itself in the state that it is asked in. */
  readonly isDone?: (node: ApiNode) => boolean
  readonly fields?: Parameters<StagedNode['provision']>[1]
}

/** In their order, as BareMetal Operator asks them. */
const LIFE_VERBS: readonly LifeVerb[] = [
  { goal: 'manage', target: 'manage', from: 'enroll', to: 'manageable' },
  {
    goal: 'inspect',
    target: 'inspect',
    from: 'manageable',
    to: 'manageable',
    isDone: (node) => node.inspection_finished_at !== null,
  },
  { goal: 'provide', target: 'provide', from: 'manageable', to: 'available' },
  {
    goal: 'deploy',
    target: 'active',
    from: 'available',
    to: 'active',
    fields: { deploy_steps: [installCoreos()] },
  },
]

/** Nodes under way at once: as many as Ironic cleans by default (`max_concurrent_clean` is 50), and some to spare. */
const MAX_BEGUN_NODES = 40

/** @throws UserError (usage) where no node could begin, or something else decides what nodes do */
export function checkBegin({
  begin,
  nodes = 0,
  hosts,
  'kube-api': kubeApi,
  'state-dir': stateDir,
}: CommandOptionValues<(typeof UP_OPTIONS)[number]>): void {
  if (begin === undefined) return
  if (hosts !== undefined || kubeApi !== undefined)
    throw usageError(
      `--begin ${begin} and BareMetalHosts would both decide what the nodes do`,
      `leave out --begin, or ${hosts === undefined ? '--kube-api' : '--hosts'}`,
    )
  if (nodes === 0 && stateDir === undefined)
    throw usageError(`--begin ${begin}: there are no nodes that could begin`, `add --nodes 3`)
}

/** Asks the verbs of the nodes that there are, up to a goal. A node that fails stays where it is. */
export async function beginLife(
  { stage }: ServedLab,
  goal: BeginGoal,
  { logger, signal }: { logger: Logger; signal: AbortSignal },
): Promise<{ reached: number; nodes: number }> {
  const verbs = LIFE_VERBS.slice(0, LIFE_VERBS.findIndex((verb) => verb.goal === goal) + 1)
  const waiting = [...stage.nodes()].map(({ uuid }) => uuid)
  const nodes = waiting.length
  const { activity } = stage.journal
  activity.goal = verbs.at(-1)!.to
  let reached = 0
  const work = async (): Promise<void> => {
    for (let uuid = waiting.shift(); uuid !== undefined && !signal.aborted; uuid = waiting.shift())
      try {
        await askVerbs(new StagedNode(stage, uuid, (awaited) => awaited), verbs)
        reached++
      } catch (error) {
        // Ironic's own error stands in the node's line; anything else has no other place.
        if (!(error instanceof UserError) && !signal.aborted)
          logger('warn', `--begin cannot continue with a node: ${errorChain(error).join(': ')}`, { node: uuid })
      }
  }
  await Promise.all(Array.from({ length: MAX_BEGUN_NODES }, work))
  activity.goal = null
  return { reached, nodes }
}

async function askVerbs(node: StagedNode, verbs: readonly LifeVerb[]): Promise<void> {
  for (const { target, from, to, isDone, fields } of verbs) {
    const before = await node.settled()
    if (before.provision_state !== from || isDone?.(before)) continue
    await node.provision(target, fields)
    const { provision_state: state, last_error: error } = await node.settled()
    if (state !== to) throw new UserError('unexpected-state', `${target} led to ${state}: ${error ?? 'no error'}`)
  }
  const { provision_state: state } = await node.settled()
  if (state !== verbs.at(-1)!.to) throw new UserError('unexpected-state', `the node is ${state}`)
}
