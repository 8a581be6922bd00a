import { UserError } from '../../base/runtime/index.js'
import { type Fault, effectFacts, pointsOf } from '../../control/index.js'
import { bmcProtocolOf } from '../bmcs/bmcs.js'
import type { FaultContext } from './fault-context.js'
import { unknownName } from './known-names.js'

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
  const { only } = effectFacts(effect.kind)
  if (only === 'links' && context.links !== true)
    throw never('no machine here is reached by SSH', 'use it with ironstage run --rehearse --faults')
  if (only === 'agents' && context.hasAgents === false)
    throw never(
      'no machine here has an agent that answers to an Ironic',
      'use one at BMCs, commands, disks, power or SSH connections',
    )
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

/** True if a fault can strike calls of BMCs alone, and changes their answers by HTTP. */
const isOfBmcAnswers = (fault: Fault): boolean =>
  effectFacts(fault.effect.kind).needsHttp === true && pointsOf(fault).every((kind) => kind === 'bmc')

/** The name that BareMetal Operator gives the node of a host: the host may be applied later. */
const isNodeToCome = (node: string): boolean => /^[^~]+~[^~]+$/.test(node)

/** The name of a machine that is made for a BMC when a node first uses it: `10.0.0.24-1`, `bmc.example:8000-sys-1`. */
const isMachineToCome = (machine: string): boolean => /^(\[[\da-f:]+\]|[\w-]+([.:][\w-]+)+)/i.test(machine)

/** The node, machine or host that a fault waits for: the lab does not have it yet. */
export function awaitedBy({ match: { node, machine, label } }: Fault, context: FaultContext): string | undefined {
  if (label !== undefined && !context.hosts?.selected(label).some((name) => context.node(name)))
    return `a host with label ${label}`
  if (node !== undefined && !context.node(node)) return `node ${node}`
  return machine !== undefined && !context.disksOf(machine) ? `machine ${machine}` : undefined
}
