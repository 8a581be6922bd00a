import { defined } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { IMAGE_CACHE_OPTIONS, type UP_OPTIONS } from '../options/option-lists.js'
import { flagOf, type CommandOptionName, type CommandOptionValues } from '../options/option-table.js'
import { usageError } from '../usage-error.js'
import { readUpDatabase } from './up-database.js'

type MachineRoleOptions = CommandOptionValues<(typeof UP_OPTIONS)[number]>

/** Options of `up` that a fleet has by the same names. */
const SAME_OPTIONS = [
  'database',
  'database-schema',
  'database-password-file',
  'name-prefix',
  'advertise',
  'hardware',
  'redfish-port',
  'ipmi-port',
  'allowed-host',
  'tls',
  'tls-cert',
  'tls-key',
  'state-dir',
  'speed',
  'steps',
  'open',
  'no-ui',
  'stop-with-stdin',
  'json',
  ...IMAGE_CACHE_OPTIONS,
] as const

/** Options that a fleet has by other names, and `role`. */
const OTHER_OPTIONS = ['role', 'nodes', 'host', 'port', 'bmc-user', 'bmc-password', 'bmc-password-file'] as const

const OPTIONS_OF_MACHINES: readonly string[] = [...SAME_OPTIONS, ...OTHER_OPTIONS]

/**
 * `up --role machines`: a fleet whose machines enroll in the Ironic of a database.
 *
 * @param hasConfig true if files of Ironic's options were named
 * @throws UserError (usage) for options of an API or a conductor
 */
export async function upMachines(
  options: MachineRoleOptions,
  environment: Environment,
  hasConfig: boolean,
): Promise<number> {
  checkMachineOptions(options, hasConfig)
  // Refuses a role without a database; the fleet reads it by itself.
  await readUpDatabase(options, environment.variables)
  const { fleet } = await import('./fleet-command.js')
  const { nodes: count, host, port, 'bmc-user': user, 'bmc-password': password, ...same } = options
  const renamed = defined({ count, user, 'redfish-host': host, 'control-port': port })
  return fleet({ ...same, ...renamed }, environment, password)
}

function checkMachineOptions(options: MachineRoleOptions, hasConfig: boolean): void {
  const set = Object.entries(options).filter(([, value]) => value !== undefined && value !== false)
  const other = hasConfig ? 'config' : set.find(([name]) => !OPTIONS_OF_MACHINES.includes(name))?.[0]
  if (other !== undefined)
    throw usageError(
      `--${other === 'config' ? other : flagOf(other as CommandOptionName)} is about an API or a conductor, and a process of --role machines is neither`,
      'leave it out; ironstage fleet --database has more options of machines',
    )
}

/** @throws UserError (usage) for options of machines in a process of another role */
export function refuseMachineOptions(options: MachineRoleOptions): void {
  for (const name of ['name-prefix', 'advertise'] as const)
    if (options[name] !== undefined)
      throw usageError(`--${name} is about the machines of --role machines`, 'leave it out, or name that role')
}
