import { UserError, type Clock, type Logger, type Random } from '../../../base/runtime/index.js'
import type { Host } from '../hosts/host.js'
import { readSecret, type KnownSecrets, type SecretParts } from '../hosts/known-secrets.js'
import type { HostBmc } from './host-bmc.js'
import { IpmiBmc } from './ipmi-bmc.js'
import { RedfishBmc } from './redfish-bmc.js'
import { RedfishClient } from './redfish-client.js'

export interface OpenBmcOptions extends SecretParts {
  known: KnownSecrets
  clock: Clock
  random: Random
  logger: Logger
  /** Pause between two looks at the power state, in milliseconds. */
  every?: number
}

/**
 * The account of a host's BMC.
 *
 * @throws UserError `hosts-secret` (usage)
 */
export async function readHostAccount(
  { bmc = {}, name }: Host,
  options: OpenBmcOptions,
): Promise<{ username: string; password: string }> {
  const { username = 'admin', password } = bmc
  if (!password)
    throw new UserError('hosts-secret', `the BMC of ${name} has no password`, {
      kind: 'usage',
      remedy: 'name its source: bmc.password: {env: BMC_PASSWORD}',
    })
  return {
    username:
      typeof username === 'string' ? username : await readSecret(username, `the user of the BMC of ${name}`, options),
    password: options.known.add(await readSecret(password, `the password of the BMC of ${name}`, options)),
  }
}

/** A client of the Redfish service of a host. */
export function redfishClient(
  { bmc: { redfish: url = '', certificate, insecure } = {} }: Host,
  account: { username: string; password: string },
  { clock, logger }: OpenBmcOptions,
): RedfishClient {
  return new RedfishClient({ url, ...account, certificate, insecure, clock, logger })
}

/** The BMC of a host; null for a host without one. Nothing is sent yet. */
export async function openBmc(host: Host, options: OpenBmcOptions): Promise<HostBmc | null> {
  const { bmc } = host
  if (!bmc) return null
  const { clock, logger, every, variables } = options
  const account = await readHostAccount(host, options)
  const pace = every === undefined ? {} : { every }
  if (bmc.ipmi !== undefined) return new IpmiBmc({ address: bmc.ipmi, ...account, variables, clock, logger, ...pace })
  const client = redfishClient(host, account, options)
  return new RedfishBmc({ client, system: bmc.system, clock, logger, ...pace })
}
