import { UserError } from '../../base/runtime/index.js'
import {
  effectFacts,
  involvesAgents,
  isRedfishRoute,
  pointsOf,
  type Fault,
  type FaultMatch,
} from '../../control/index.js'
import { bmcProtocolOf } from '../bmcs/bmcs.js'
import type { FaultContext } from './fault-context.js'
import { unknownName, type NameProblem } from './known-names.js'

/**
 * Checks that a fault can strike.
 *
 * @throws UserError `fault` when nothing in this lab can have the effect; when its time has passed; when a node, machine, disk,
 *   call, step, phase or state does not exist; when a program is probably misspelt; and when node and machine do not
 *   belong together
 */
export function checkFaultNames(fault: Fault, context: FaultContext): void {
  const { match, effect, between } = fault
  const { node, machine, label, disk } = match
  const never = (message: string, remedy: string) =>
    new UserError('fault', `${message}, so the fault could never strike`, { remedy, kind: 'usage' })
  const absent = absenceProblem(fault, context)
  if (absent) throw never(absent.message, absent.remedy)
  const elapsed = context.clock.elapsed()
  if (between && between[1] <= elapsed)
    throw never(
      `between ended after ${between[1] / 1000} s of lab time, and ${Math.floor(elapsed) / 1000} s have passed`,
      'name a time to come: GET /_lab/clock has what has elapsed',
    )
  const unknown = unknownName(match, context.steps)
  if (unknown) throw never(unknown.message, unknown.remedy)
  const found = node === undefined ? undefined : context.node(node)
  if (node !== undefined && !found && !isNodeToCome(node))
    throw never(
      `there is no node ${node}`,
      'name a node by its uuid or name, that of a BareMetalHost as NAMESPACE~NAME',
    )
  if (machine !== undefined && !context.disksOf(machine) && !isMachineToCome(machine))
    throw never(
      `there is no machine ${machine}`,
      'GET /_lab/machines lists them; one that is still to come is named by its BMC: ADDRESS-SYSTEM',
    )
  if (label !== undefined) {
    if (!context.hosts)
      throw never(
        'there are no BareMetalHosts here',
        'match a node or a machine, or use ironstage up with --hosts or --kube-api',
      )
    const problem = context.hosts.problemOf(label)
    if (problem !== undefined)
      throw never(problem, 'write it as for kubectl -l: rack=a, tier!=gold, zone in (1,2), spare, !spare')
  }
  const own = found && context.machineOf(found.uuid)
  if (machine !== undefined && own !== undefined && own !== machine)
    throw never(`the machine of node ${node} is ${own}, and not ${machine}`, 'match the node or the machine')
  if (found && isOfBmcAnswers(fault) && bmcProtocolOf(found) !== 'redfish')
    throw never(
      `node ${node} has no BMC that Ironic asks over Redfish, and a fault of kind ${effect.kind} changes answers by HTTP`,
      'match its machine for the calls of other clients over Redfish, or use bmc-silent, bmc-dark, bmc-busy, bmc-lies, hang or delay',
    )
  const disks = context.disksOf(machine ?? own ?? '')
  if (disk !== undefined && disks && !disks.includes(disk))
    throw never(`${machine ?? own} has no disk ${disk}`, `match one of ${disks.join(', ')}`)
}

/** Why a fault needs something that machines of this kind do not have; undefined where they have it. */
function absenceProblem({ match, effect }: Fault, context: FaultContext): NameProblem | undefined {
  const { only } = effectFacts(effect.kind)
  const { hasAgents = true, hasNodes = true, links = false } = context
  if (only === 'links' && !links)
    return {
      message: 'no machine here is reached by SSH',
      remedy: 'use it with ironstage run --rehearse --faults',
    }
  const isOfAgents = only === 'agents' || match.step !== undefined || isOfIronic(match)
  if (!hasAgents && (isOfAgents || only === 'answers of Ironic'))
    return {
      message: 'no machine here has an agent that answers to an Ironic',
      remedy: 'use one at BMCs, commands, disks, power, image servers or SSH connections',
    }
  if (hasNodes) return undefined
  const condition = Object.entries({ node: match.node, state: match.state, phase: match.phase }).find(
    ([, value]) => value !== undefined,
  )?.[0]
  if (condition !== undefined)
    return {
      message: `the nodes of these machines are in an Ironic elsewhere, which tells no ${condition} here`,
      remedy: 'match the machine; step, program, route, bmc or disk choose the moment',
    }
  if (only === 'answers of Ironic' || (isOfIronic(match) && !involvesAgents(match)))
    return {
      message: 'the Ironic of these machines is elsewhere, and only its exchanges with agents pass here',
      remedy: 'match a call of an agent, such as POST /v1/heartbeat, or one to an agent: POST /v1/commands',
    }
  return undefined
}

/** True if a match selects exchanges of an Ironic: with clients or with agents. */
const isOfIronic = ({ route, to }: FaultMatch): boolean =>
  to === 'ironic' || to === 'agent' || (route !== undefined && to === undefined && !isRedfishRoute(route))

/** True if a fault can strike calls of BMCs alone, and changes their answers by HTTP. */
const isOfBmcAnswers = (fault: Fault): boolean =>
  effectFacts(fault.effect.kind).needsHttp === true && pointsOf(fault).every((kind) => kind === 'bmc')

/** The name that BareMetal Operator gives the node of a host: the host may be applied later. */
const isNodeToCome = (node: string): boolean => /^[^~]+~[^~]+$/.test(node)

/** The name of a machine that is made for a BMC when a node first uses it: `10.0.0.24-1`, `bmc.example:8000-sys-1`. */
const isMachineToCome = (machine: string): boolean => /^(\[[\da-f:]+\]|[\w-]+([.:][\w-]+)+)/i.test(machine)

/** The node, machine or host that a fault waits for: the lab does not have it yet. Nodes of another process are not known. */
export function awaitedBy({ match: { node, machine, label } }: Fault, context: FaultContext): string | undefined {
  const { hasNodes = true } = context
  if (hasNodes && label !== undefined && !context.hosts?.selected(label).some((name) => context.node(name)))
    return `a host with label ${label}`
  if (hasNodes && node !== undefined && !context.node(node)) return `node ${node}`
  return machine !== undefined && !context.disksOf(machine) ? `machine ${machine}` : undefined
}
