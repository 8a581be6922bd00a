import { isLoopback } from '../../base/bytes/index.js'
import { Probe, UserError, withoutRepeats, type Clock, type Logger, type Scope } from '../../base/runtime/index.js'
import {
  addressForBmcs,
  addressTowards,
  ipmiAccountProblem,
  isEveryAddress,
  type StateFolder,
} from '../../lab/index.js'
import { ERRORS } from './errors.js'
import { FleetAccounts } from './fleet-accounts.js'
import type { FleetOptions } from './fleet-options.js'

/** The ground of a fleet, which all of its parts use. */
export interface FleetCore {
  readonly clock: Clock
  readonly logger: Logger
  readonly probe: Probe
  readonly folder: StateFolder | null
  readonly accounts: FleetAccounts
  /** Address that the BMCs listen on. */
  readonly host: string
  /** Host by which the Ironic reaches this one. */
  readonly reached: string
  /** Closes the parts, the last one first. */
  readonly scope: Scope
}

/** @throws UserError for an account or an address that the fleet cannot have */
export async function openFleetCore(options: FleetOptions, scope: Scope): Promise<FleetCore> {
  const { clock, redfish, folder = null } = options
  const { host = '127.0.0.1' } = redfish
  refuseOpenAccess(host, options)
  refuseUselessAccount(options)
  return {
    clock,
    logger: withoutRepeats(options.logger, clock),
    probe: new Probe(),
    folder,
    reached: await reachedBy(host, options),
    accounts: new FleetAccounts(folder, options.account ?? {}),
    host,
    scope,
  }
}

/** Refuses an account that no client could use. */
function refuseUselessAccount({ account = {}, ipmi }: FleetOptions): void {
  const basic = account.username?.includes(':') ? 'Basic authentication takes no name with a colon' : undefined
  const problem = basic ?? (ipmi && ipmiAccountProblem(account))
  if (problem === undefined) return
  throw new UserError('fleet-account', `the account of the BMCs cannot be used: ${problem}`, {
    kind: 'usage',
    remedy: ERRORS['fleet-account'].remedy,
  })
}

/** Refuses BMCs with a known or unknown password on an open address: they can erase the machines' disks. */
function refuseOpenAccess(host: string, { account, tls, logger }: FleetOptions): void {
  if (isLoopback(host)) return
  if (account?.password === undefined)
    throw new UserError(
      'fleet-address',
      `${host} can be reached from other hosts, and you have set no password for the BMCs`,
      {
        remedy: 'name a file with their password: --password-file',
        kind: 'usage',
      },
    )
  if (tls === undefined) logger('warn', `the passwords of the BMCs go to ${host} in the clear: --tls would hide them`)
}

/** Host by which the Ironic reaches this one. */
async function reachedBy(host: string, { advertise, ironicUrl, towards, clock }: FleetOptions): Promise<string> {
  if (advertise !== undefined) return advertise
  if (!isEveryAddress(host)) return host
  if (ironicUrl !== undefined) return addressTowards([ironicUrl], clock)
  const found = towards === undefined ? undefined : await addressForBmcs([towards], clock)
  if (found !== undefined) return found
  throw new UserError('fleet-address', `${host} stands for all addresses of this host: which one does Ironic reach?`, {
    remedy: 'name it with --advertise, or the Ironic with --ironic-url',
    kind: 'usage',
  })
}
