import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import {
  addressesInAll,
  discoverSystems,
  foundHostsYaml,
  REDFISH_PORTS,
  type AddressWithout,
} from '../../hardware-lab/index.js'
import { countText, defined, systemClock, UserError, writeResult } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import type { RUN_DISCOVER_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'

type DiscoverCommandOptions = CommandOptionValues<(typeof RUN_DISCOVER_OPTIONS)[number]>

/** Addresses without a service are listed one by one up to this number. */
const MAX_LISTED_ADDRESSES = 16

/** `ironstage run discover`: exit code 1 if no BMC was found, or one refuses the account. */
export async function runDiscover(
  options: DiscoverCommandOptions,
  { stdout, stderr, stopped }: Environment,
  ranges: readonly string[],
): Promise<number> {
  const { 'bmc-user': username = 'admin', 'bmc-password': password, out, force = false, json = false } = options
  // A scan takes long: whether its result may be written is known before.
  if (out !== undefined && !force && existsSync(out)) throw unwritable(out)
  const ports = options['discover-port']?.map(Number) ?? REDFISH_PORTS
  const addresses = await addressesInAll(ranges)
  stderr.line(`asking ${countText(addresses.length, 'address', 'es')} for Redfish, at ${portsText(addresses, ports)}`)
  const { systems, others } = await discoverSystems({
    addresses,
    ports,
    username,
    password,
    clock: systemClock(),
    signal: stopped,
  })
  if (json) stdout.json({ event: 'found', systems, others })
  else stderr.lines(describeOthers(others))
  for (const { url, refused } of systems) if (refused !== null && !json) stderr.line(`${url}: ${refused}`)
  await writeFound(foundHostsYaml(systems, username), systems.length, options, { stdout })
  const isRefused = password !== undefined && systems.some(({ refused }) => refused !== null)
  return systems.length === 0 || isRefused ? 1 : 0
}

async function writeFound(
  yaml: string,
  count: number,
  { out, force = false, json = false }: DiscoverCommandOptions,
  { stdout }: Pick<Environment, 'stdout'>,
): Promise<void> {
  if (out === undefined) {
    if (!json && count > 0) stdout.contents(yaml)
    return
  }
  await (force ? writeResult(out, yaml) : writeFile(out, yaml, { flag: 'wx' })).catch((cause: unknown) => {
    throw unwritable(out, cause)
  })
  if (!json) stdout.line(`wrote ${countText(count, 'system')} to ${out}`)
}

const unwritable = (path: string, cause?: unknown): UserError =>
  new UserError('hosts-file', cause === undefined ? `${path} already exists` : `${path} cannot be written`, {
    kind: 'usage',
    ...defined({ cause }),
    remedy: 'name another file, or replace it with --force',
  })

function portsText(addresses: readonly string[], ports: readonly number[]): string {
  const own = addresses.filter((address) => /:\d+$/.test(address)).length
  const text = `${ports.length === 1 ? 'port' : 'ports'} ${ports.join(', ')}`
  if (own === 0) return text
  const named = addresses.length === 1 ? 'its port' : 'their ports'
  return own === addresses.length ? named : `${named}, or ${text}`
}

/** Lines about addresses without a service: what was asked, and what came. */
function describeOthers(others: readonly AddressWithout[]): string[] {
  if (others.length > MAX_LISTED_ADDRESSES)
    return [`no Redfish service at ${countText(others.length, 'address', 'es')} (--json lists what was asked)`]
  return others.flatMap(({ address, asked }) => [
    `no Redfish service at ${address}:`,
    ...asked.map(({ url, why }) => `  ${url}: ${why}`),
  ])
}
