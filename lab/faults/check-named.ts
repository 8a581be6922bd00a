import { UserError } from '../../runtime/index.js'
import type { FaultMatch } from './fault.js'
import type { FaultContext } from './faults.js'
import { unknownWord } from './known-words.js'

/**
 * @throws UserError `fault` for a node, machine, disk, call, step, phase or state that there is not, for a program that is
 *   nearly one, and for a node with the machine of another
 */
export function checkNamed(match: FaultMatch, context: FaultContext): void {
  const { node, machine, disk } = match
  const never = (message: string, remedy: string) =>
    new UserError('fault', `${message}, so the fault could never strike`, { remedy, kind: 'usage' })
  const unknown = unknownWord(match, context.steps)
  if (unknown) throw never(unknown.message, unknown.remedy)
  const found = node === undefined ? undefined : context.node(node)
  if (node !== undefined && !found) throw never(`there is no node ${node}`, 'name a node by its uuid or name')
  if (machine !== undefined && !context.disksOf(machine))
    throw never(
      `there is no machine ${machine}`,
      'GET /_lab/machines lists them; match the node of one that is still to come',
    )
  const own = found && context.machineOf(found.uuid)
  if (machine !== undefined && own !== undefined && own !== machine)
    throw never(`the machine of node ${node} is ${own}, and not ${machine}`, 'match the node or the machine')
  const disks = context.disksOf(machine ?? own ?? '')
  if (disk !== undefined && disks && !disks.includes(disk))
    throw never(`${machine ?? own} has no disk ${disk}`, `match one of ${disks.join(', ')}`)
}
