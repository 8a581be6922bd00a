import { expect } from 'vitest'
import { brokenInvariants } from '../fuzz/index.js'
import { STUCK_STATES, TRANSITIONS } from '../../../ironic-mock/index.js'
import { leads } from '../state-paths.js'
import type { NodeRecord, ProvisionState } from '../../../base/wire/index.js'
import type { NodeLine, UpProcess } from '../commands/up-process.js'
import type { SavedAgent, LeftBehind, LeftNode } from './left-behind.js'
import type { AcceptedVerb, Operator } from './operator.js'

type Standing = Pick<NodeRecord, 'provision_state' | 'last_error'>
/** The state of a node and its queued work. */
type Left = Pick<LeftNode, 'provision_state' | 'last_error' | 'target_power_state' | 'job'>

export const machineOf = (node: string): string => `machine-${Number(node.replace('node-', '')) + 1}`

/** Ironic's sentence for work that a restart has cut short. */
const cutShort = (state: ProvisionState): string =>
  `The ${state} state can't be resumed by conductor ironstage. Moving to fail state.`

/** Where a restarted Ironic puts a node, given what the killed one had kept; the machine lived on. */
export function takenOver({ provision_state: state, last_error, target_power_state: power, job }: Left): Standing {
  if (STUCK_STATES.includes(state)) return { provision_state: TRANSITIONS[state].on.fail!, last_error: cutShort(state) }
  if (power !== null && (job === null || job === 'power-change'))
    return { provision_state: state, last_error: 'Pending power operation was aborted due to conductor restart' }
  return { provision_state: state, last_error }
}

/** Ironic waits for this node's agent, gave it a token, and the agent has none. */
export function isLockedOut(node: NodeRecord, agent: SavedAgent | null | undefined): boolean {
  if (!node.provision_state.includes('wait')) return false
  return node.driver_internal_info.agent_secret_token !== undefined && agent !== undefined && !agent?.token
}

const FAILED = (state: ProvisionState): boolean => state === 'error' || state.endsWith(' failed')

/**
 * Compares one life of the process with the state before it and the state that it left.
 *
 * @param before null for the first life
 */
export function judge(before: LeftBehind | null, life: UpProcess, after: LeftBehind, operators: readonly Operator[]) {
  expect(brokenInvariants(after)).toEqual([])
  const verbs: readonly AcceptedVerb[] = operators.flatMap(({ accepted }) => accepted)
  // Errors of an agent come from its machine; all other errors are defects.
  expect(life.log.filter(({ level, room }) => level === 'error' && room !== 'agent')).toEqual([])
  for (const [name, left] of after.nodes) {
    const lines = life.nodes.filter((line) => line.uuid === left.uuid)
    const began = before?.nodes.get(name)
    const aborted = operators.some(({ node, hasAborted }) => node === name && hasAborted)
    const agent = before?.agents.get(machineOf(name))
    for (const line of lines) expectExplained(line, { began, agent: agent, aborted, name })
    if (FAILED(left.provision_state)) expect(left.last_error, `${name} in ${left.provision_state}`).not.toBeNull()
    expectPath(name, [...(began ? [began] : []), ...lines, left])
  }
  for (const { node, verb, begins, process, after: from } of verbs) {
    if (process !== life) continue
    const lines = life.nodes.slice(from).filter(({ name }) => name === node)
    const states = [...lines.map((line) => line.provision_state), after.nodes.get(node)?.provision_state]
    expect(
      states.some((state) => state !== undefined && begins.includes(state)),
      `${verb} of ${node} was accepted, then it was ${states.join(', ')}`,
    ).toBe(true)
  }
}

interface Circumstances {
  began: LeftNode | undefined
  agent: SavedAgent | null | undefined
  aborted: boolean
  name: string
}

/** A node fails only because of a kill or of a requested abort. */
function expectExplained(line: NodeLine, { began, agent: agentBefore, aborted, name }: Circumstances): void {
  const { provision_state: state, last_error: error } = line
  if (!FAILED(state) && error === null) return
  const what = `${name} in ${state}`
  expect(error, what).not.toBeNull()
  if (state === began?.provision_state && error === began.last_error) return
  if (began && error === takenOver(began).last_error) return
  if (aborted && /aborted/.test(error!)) return
  // Ironic may have asked for the logs of a failed step by then.
  const command = agentBefore?.commands.findLast(({ name }) => /^execute_|^finalize_rescue/.test(name))
  const lost = command && command.status !== 'SUCCEEDED'
  expect(
    lost ? error : `${error} (the agent had ${command?.name ?? 'no step'} ${command?.status ?? ''})`,
    what,
  ).toMatch(lost ? /was under way when the agent was killed|SIGKILL/ : /never/)
}

/** Every state leads to the next by the table. A verification that fails goes back to enroll with an error. */
function expectPath(name: string, path: readonly Standing[]): void {
  path.slice(1).forEach(({ provision_state: to }, index) => {
    const { provision_state: from } = path[index]!
    if (from !== to) expect(leads(from, to), `${name} went from ${from} to ${to}`).toBe(true)
  })
}
