import { hostname } from 'node:os'
import { packageVersion, systemClock, unlessAborted, UserError, userError } from '../../base/runtime/index.js'
import { askAgain } from '../../base/wire/index.js'
import { joinWithMachines, type DatabaseAddress, type MachinesMember } from '../../ironic-mock/index.js'
import { clockMode, type MachineControl } from '../../lab/index.js'
import type { Machine, Machines } from '../../machine/index.js'
import { IRONIC_RETRY_INTERVAL } from './enroll-fleet.js'
import type { FleetBmcs } from './fleet-bmcs.js'
import type { FleetCore } from './fleet-core.js'
import { nodeNameOf } from './fleet-hosts.js'
import type { FleetOptions, JoinRequest } from './fleet-options.js'

interface JoiningParts {
  readonly machines: Machines
  readonly control: MachineControl
  readonly bmcs: FleetBmcs
}

interface JoinedParts {
  readonly member: MachinesMember
  readonly lab: AsyncDisposable
}

/**
 * Joins the processes of the options' database, which is waited for.
 *
 * @throws UserError for a database that cannot be used, and a name or clock that a process of it cannot have
 */
export async function joinFleet(
  { database }: FleetOptions,
  core: FleetCore,
  parts: JoiningParts,
  { signal, onAway }: JoinRequest,
): Promise<MachinesMember> {
  if (!database) throw new Error('a fleet joins the database of its options, and they have none')
  // A server that is silent is not waited for at the end.
  const join = () => unlessAborted(joinOnce(database, core, parts), signal, leave)
  const joined = await askAgain(join, {
    isPassing: isDatabaseAway,
    every: IRONIC_RETRY_INTERVAL,
    onWait: (reason) => onAway?.(reason),
    // A database does not live in lab time.
    clock: systemClock(),
    signal,
  })
  core.scope.use(joined.member)
  core.scope.use(joined.lab)
  return joined.member
}

async function leave({ member, lab }: JoinedParts): Promise<void> {
  await lab[Symbol.asyncDispose]()
  await member[Symbol.asyncDispose]()
}

/** The name of a process is another's, or its clock differs, also a minute later. */
function isDatabaseAway(error: unknown): boolean {
  const known = userError(error)
  return known === undefined || known.code === 'database-unreachable'
}

async function joinOnce(
  address: DatabaseAddress,
  { clock, logger }: FleetCore,
  { machines, control, bmcs: { url, port, certificate } }: JoiningParts,
): Promise<JoinedParts> {
  const host = `${hostname()}-${port}`
  const self = {
    host,
    role: 'machines' as const,
    group: '',
    drivers: [],
    url: null,
    version: packageVersion(),
    control: { url, certificate },
    clock: clockMode(clock),
  }
  const named = () => machines.list().map(memberMachine)
  const member = await joinWithMachines({ address, self, clock, logger, machines: named }).catch((error: unknown) => {
    throw userError(error)?.code === 'member-name' ? nameIsTaken(host, error) : error
  })
  try {
    return { member, lab: await control.join(member) }
  } catch (error) {
    await member[Symbol.asyncDispose]()
    throw error
  }
}

const nameIsTaken = (host: string, cause: unknown): UserError =>
  new UserError('member-name', `another process of this database is called ${host}`, {
    remedy: 'give the BMCs another port: a process of machines is called by its host and this port',
    cause,
  })

const memberMachine = ({ spec }: Machine) => ({
  name: spec.id,
  node: nodeNameOf(spec),
  disks: spec.disks.map(({ name }) => name),
})
