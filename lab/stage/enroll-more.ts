import type { HardwareFleet, Machines, MachineSpec } from '../../machine/index.js'
import { defined } from '../../base/runtime/index.js'
import type { NodeRecord } from '../../base/wire/index.js'
import type { WantedNodes } from '../control/node-handlers.js'
import { makeIdentities, seedIsUsed, type MachineIdentity } from './identities.js'

interface EnrollingParts {
  readonly machines: Machines
  /** Finds a node by uuid or name. */
  readonly node: (ident: string) => Readonly<NodeRecord> | undefined
  readonly spec: (number: number, hardware: HardwareFleet | undefined, identity?: MachineIdentity) => MachineSpec
  readonly enroll: (spec: MachineSpec, fields: Record<string, unknown>) => Promise<string>
}

/**
 * Enrolls machines with the next free numbers.
 *
 * @throws UserError `bad-request` for a seed whose nodes exist
 */
export async function enrollMore(
  { count, prefix, hardware, seed }: WantedNodes,
  { machines, node, spec, enroll }: EnrollingParts,
): Promise<Readonly<NodeRecord>[]> {
  const added: Readonly<NodeRecord>[] = []
  const identities = seed === undefined ? undefined : seededIdentities(seed, count, machines, node)
  for (let number = 1; added.length < count; number++) {
    const identity = identities?.[added.length]
    const wanted = spec(number, hardware, identity)
    const name = `${prefix}${number - 1}`
    if (machines.get(wanted.id) || node(name)) continue
    const fields = { name, ...defined({ uuid: identity?.uuid }) }
    added.push(node(await enroll(wanted, fields))!)
  }
  return added
}

function seededIdentities(
  seed: number,
  count: number,
  machines: Machines,
  node: EnrollingParts['node'],
): MachineIdentity[] {
  const macs = new Set(machines.list().flatMap(({ spec }) => spec.nics.map(({ mac }) => mac)))
  const next = makeIdentities(seed, (mac) => macs.has(mac))
  const all = Array.from({ length: count }, next)
  for (const { uuid } of all) if (node(uuid)) throw seedIsUsed(seed, uuid)
  return all
}
