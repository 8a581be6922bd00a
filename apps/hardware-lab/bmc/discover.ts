import { lookup } from 'node:dns/promises'
import { inParallel, onAbort, sharedAbort, silent, UserError, type Clock } from '../../../base/runtime/index.js'
import { linksIn, objectIn, textIn } from '../../../lab/index.js'
import { RedfishClient } from './redfish-client.js'
import { probeRedfish } from './redfish-probe.js'

export interface DiscoverOptions {
  /** Addresses of {@link addressesIn}. */
  addresses: readonly string[]
  /** Ports that are tried at addresses without one; default {@link REDFISH_PORTS}. */
  ports?: readonly number[]
  username: string
  password: string | undefined
  clock: Clock
  signal: AbortSignal
}

/** Ports of Redfish services: of BMCs by HTTPS and HTTP, and of sushy-emulator. */
export const REDFISH_PORTS: readonly number[] = [443, 80, 8000]

/** Systems and silent addresses of a search. */
export interface DiscoveryResult {
  /** In the order of the addresses. */
  readonly systems: FoundSystem[]
  /** Addresses without a Redfish service. */
  readonly others: AddressWithout[]
}

/** An address without a Redfish service, and each URL that was asked there with what came. */
export interface AddressWithout {
  readonly address: string
  readonly asked: readonly { readonly url: string; readonly why: string }[]
}

/** A system that was found behind a BMC. */
export interface FoundSystem {
  url: string
  /** Fingerprint of the certificate; null for plain HTTP. */
  certificate: string | null
  /** Id of the system, where the service has several; null else. */
  system: string | null
  serial: string | null
  product: string | null
  macs: string[]
  /** The reason why no more is known of it. */
  refused: string | null
}

/** Networks that are larger have to be named in parts. */
const MAX_DISCOVERED_ADDRESSES = 1024
const MAX_PARALLEL_ADDRESSES = 32

/** Looks for Redfish services at addresses, and at nothing else. */
export async function discoverSystems(options: DiscoverOptions): Promise<DiscoveryResult> {
  const { addresses } = options
  const found: DiscoveryResult[] = []
  const shared = sharedAbort()
  using _ = onAbort(options.signal, (reason) => shared.abort(reason))
  await inParallel(addresses, MAX_PARALLEL_ADDRESSES, async (address, index) => {
    shared.signal.throwIfAborted()
    found[index] = await systemsAt(address, { ...options, signal: shared.signal })
  })
  return {
    systems: found.flatMap(({ systems }) => systems),
    others: found.flatMap(({ others }) => others),
  }
}

/**
 * The addresses in ranges: `192.0.2.0/28`, `192.0.2.7:8443`, a host name.
 *
 * @throws UserError `run-options` (usage) for too many of them, and for a name without an address
 */
export async function addressesInAll(ranges: readonly string[]): Promise<string[]> {
  const all = ranges.flatMap(addressesIn)
  if (all.length > MAX_DISCOVERED_ADDRESSES)
    throw new UserError('run-options', `${all.length} addresses are more than ${MAX_DISCOVERED_ADDRESSES}`, {
      kind: 'usage',
      remedy: 'name smaller networks, one after another',
    })
  for (const address of all.filter((one) => /^[A-Za-z]/.test(one)))
    await lookup(address.replace(/:\d+$/, '')).catch((cause: unknown) => {
      throw new UserError('run-options', `${address} is no address, and no host of that name was found`, {
        kind: 'usage',
        cause,
        remedy: ADDRESS_FORMS,
      })
    })
  return all
}

const ADDRESS_FORMS = 'write 192.0.2.7, 192.0.2.7:8000, 192.0.2.0/28 or a host name'

/** @throws UserError `run-options` (usage) for text of another form */
export function addressesIn(range: string): string[] {
  const [, first = '', bits, port] = /^(\d+\.\d+\.\d+\.\d+)(?:\/(\d+))?(?::(\d+))?$/.exec(range) ?? []
  const parts = first.split('.').map(Number)
  const size = bits === undefined ? 32 : Number(bits)
  const [, portOfRange] = /:(\d+)$/.exec(range) ?? []
  const isPortValid = portOfRange === undefined || isPort(portOfRange)
  if (first === '' && isPortValid && /^[A-Za-z][\w.-]*(:\d+)?$/.test(range)) return [range]
  if (first !== '' && size < 16)
    throw new UserError('run-options', `${range} has more than ${MAX_DISCOVERED_ADDRESSES} addresses`, {
      kind: 'usage',
      remedy: 'name smaller networks, one after another',
    })
  if (first === '' || !isPortValid || parts.some((part) => part > 255) || size > 32)
    throw new UserError('run-options', `${range} is neither an address nor a network`, {
      kind: 'usage',
      remedy: ADDRESS_FORMS,
    })
  const count = 2 ** (32 - size)
  const base = parts.reduce((sum, part) => sum * 256 + part, 0)
  const start = base - (base % count)
  // The first and the last address of a network belong to no host.
  const [from, to] = count > 2 ? [start + 1, start + count - 1] : [start, start + count]
  const suffix = port === undefined ? '' : `:${port}`
  return Array.from({ length: to - from }, (_, index) => from + index).map(
    (value) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.') + suffix,
  )
}

async function systemsAt(address: string, options: DiscoverOptions): Promise<DiscoveryResult> {
  const asked = await Promise.all(
    urlsAt(address, options.ports ?? REDFISH_PORTS).map(async (url) => ({
      url,
      outcome: await probeRedfish(url, options),
    })),
  )
  for (const { url, outcome } of asked)
    if (outcome.isRedfish) return { systems: await systemsOf(url, outcome.certificate, options), others: [] }
  const without = asked.map(({ url, outcome }) => ({ url, why: outcome.isRedfish ? '' : outcome.why }))
  return { systems: [], others: [{ address, asked: without }] }
}

const isPort = (text: string): boolean => Number(text) >= 1 && Number(text) <= 65_535

/** The URLs at an address, those with TLS first. */
function urlsAt(address: string, ports: readonly number[]): string[] {
  if (/:\d+$/.test(address)) return [`https://${address}`, `http://${address}`]
  return [
    ...ports.filter((port) => port !== 80).map((port) => `https://${address}${port === 443 ? '' : `:${port}`}`),
    ...ports.filter((port) => port !== 443).map((port) => `http://${address}${port === 80 ? '' : `:${port}`}`),
  ]
}

async function systemsOf(url: string, certificate: string | null, options: DiscoverOptions): Promise<FoundSystem[]> {
  const { username, password, clock, signal } = options
  const unknown = { url, certificate, system: null, serial: null, product: null, macs: [] }
  if (password === undefined) return [{ ...unknown, refused: 'a password is needed to list its systems' }]
  const trust = certificate === null ? {} : { certificate }
  await using client = new RedfishClient({ url, username, password, ...trust, clock, logger: silent })
  try {
    const root = await client.get('/redfish/v1/', signal)
    const collection = textIn(objectIn(root, 'Systems'), '@odata.id') ?? '/redfish/v1/Systems'
    const paths = linksIn(await client.get(collection, signal), 'Members')
    const found: FoundSystem[] = []
    for (const path of paths) {
      const system = await client.get(path, signal)
      found.push({
        url,
        certificate,
        refused: null,
        serial: textIn(system, 'SerialNumber') ?? null,
        system: paths.length > 1 ? path : null,
        product: [textIn(system, 'Manufacturer'), textIn(system, 'Model')].filter(Boolean).join(' ') || null,
        macs: await readSystemMacs(client, textIn(objectIn(system, 'EthernetInterfaces'), '@odata.id'), signal),
      })
    }
    return found
  } catch (error) {
    signal.throwIfAborted()
    return [{ ...unknown, refused: error instanceof Error ? error.message : String(error) }]
  }
}

async function readSystemMacs(client: RedfishClient, path: string | undefined, signal: AbortSignal): Promise<string[]> {
  if (path === undefined) return []
  const macs: string[] = []
  for (const each of linksIn(await client.get(path, signal), 'Members')) {
    const nic = await client.get(each, signal)
    const mac = textIn(nic, 'PermanentMACAddress') ?? textIn(nic, 'MACAddress')
    if (mac !== undefined && /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(mac)) macs.push(mac.toLowerCase())
  }
  return macs
}

/** A file of hosts with what was found; what only a user can know is left as a comment. */
export function foundHostsYaml(systems: readonly FoundSystem[], username: string): string {
  const known = systems.filter(({ refused }) => refused === null)
  return [
    '# yaml-language-server: $schema=hosts.schema.json',
    '# Found by ironstage run discover. Each host still needs the address of its live system and its disk.',
    'defaults:',
    '  bmc:',
    `    username: ${JSON.stringify(username)}`,
    '    password: {env: BMC_PASSWORD}',
    '  live:',
    '    iso: https://images.example.org/live.iso',
    'hosts:',
    ...known.flatMap(({ url, certificate, system, serial, product, macs }, index) => [
      `  host-${index + 1}:${product === null ? '' : ` # ${product.replaceAll(/[^ -~]/g, '')}`}`,
      '    bmc:',
      `      redfish: ${JSON.stringify(url)}`,
      ...(system === null ? [] : [`      system: ${JSON.stringify(system)}`]),
      ...(certificate === null ? [] : [`      certificate: ${certificate}`]),
      ...(macs.length === 0 ? [] : [`    macs: [${macs.map((mac) => JSON.stringify(mac)).join(', ')}]`]),
      ...(serial === null ? [] : [`    expect: {serial: ${JSON.stringify(serial)}}`]),
      '    # ssh: {address: 192.0.2.21}',
      '    # disk: {serial: ...}',
    ]),
    ...systems
      .filter(({ refused }) => refused !== null)
      .map(({ url, refused }) => `# ${url}: ${refused!.replaceAll(/[^ -~]/g, ' ')}`),
    '',
  ].join('\n')
}
