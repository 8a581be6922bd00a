import { connect } from 'node:tls'
import { DEFAULT_HTTP_LIMITS, requestOnce, readUpTo } from '../../../base/bytes/index.js'
import {
  inParallel,
  onAbort,
  seconds,
  sharedAbort,
  silent,
  UserError,
  withinLimit,
  type Clock,
} from '../../../base/runtime/index.js'
import { bmcAgent } from './pinned-agent.js'
import { linksIn, objectIn, RedfishClient, textIn } from './redfish-client.js'

export interface DiscoverOptions {
  /** Addresses and networks, with a port where it is not 443: `192.0.2.0/28`, `192.0.2.7:8443`. */
  ranges: readonly string[]
  username: string
  password: string | undefined
  clock: Clock
  signal: AbortSignal
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
const MAX_PARALLEL_PROBES = 32
const PROBE_TIMEOUT = seconds(4)

/** Looks for Redfish services at addresses, and at nothing else. In the order of the addresses. */
export async function discoverSystems(options: DiscoverOptions): Promise<FoundSystem[]> {
  const all = options.ranges.flatMap(addressesIn)
  if (all.length > MAX_DISCOVERED_ADDRESSES)
    throw new UserError('run-options', `${all.length} addresses are more than ${MAX_DISCOVERED_ADDRESSES}`, {
      kind: 'usage',
      remedy: 'name smaller networks, one after another',
    })
  const found: FoundSystem[][] = all.map(() => [])
  const shared = sharedAbort()
  using _ = onAbort(options.signal, (reason) => shared.abort(reason))
  await inParallel(all, MAX_PARALLEL_PROBES, async (address, index) => {
    shared.signal.throwIfAborted()
    found[index] = await systemsAt(address, { ...options, signal: shared.signal })
  })
  return found.flat()
}

/** @throws UserError `run-options` (usage) */
export function addressesIn(range: string): string[] {
  const [, first = '', bits, port] = /^(\d+\.\d+\.\d+\.\d+)(?:\/(\d+))?(?::(\d+))?$/.exec(range) ?? []
  const parts = first.split('.').map(Number)
  const size = bits === undefined ? 32 : Number(bits)
  if (first === '' && /^[A-Za-z][\w.-]*(:\d+)?$/.test(range)) return [range]
  if (first === '' || parts.some((part) => part > 255) || size > 32 || size < 16)
    throw new UserError('run-options', `${range} is neither an address nor a network`, {
      kind: 'usage',
      remedy: 'write it as 192.0.2.7 or 192.0.2.0/28',
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

async function systemsAt(address: string, options: DiscoverOptions): Promise<FoundSystem[]> {
  const { clock, signal } = options
  const late = () => new Error('too slow')
  const service = await withinLimit({ ms: PROBE_TIMEOUT, clock, weak: true, signal, late }, (either) =>
    serviceAt(address, options, either),
  )
  return service ? systemsOf(service.url, service.certificate, options) : []
}

async function serviceAt(
  address: string,
  options: DiscoverOptions,
  signal: AbortSignal,
): Promise<Pick<FoundSystem, 'url' | 'certificate'> | null> {
  for (const scheme of ['https', 'http']) {
    const url = `${scheme}://${address}`
    const certificate = scheme === 'https' ? await fingerprintAt(address, signal) : null
    if (scheme === 'https' && certificate === null) continue
    if (await isRedfish(url, certificate, options, signal)) return { url, certificate }
  }
  return null
}

function fingerprintAt(address: string, signal: AbortSignal): Promise<string | null> {
  const { hostname: host, port } = new URL(`https://${address}`)
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) || 443, rejectUnauthorized: false })
    const end = (value: string | null) => {
      signal.removeEventListener('abort', stop)
      socket.destroy()
      resolve(value)
    }
    const stop = () => end(null)
    signal.addEventListener('abort', stop, { once: true })
    socket.once('error', () => end(null))
    socket.once('secureConnect', () => {
      const { fingerprint256 } = socket.getPeerCertificate()
      end(fingerprint256 === undefined ? null : `sha256:${fingerprint256.replaceAll(':', '').toLowerCase()}`)
    })
  })
}

/** The root of a service needs no account. */
async function isRedfish(
  url: string,
  certificate: string | null,
  { clock }: DiscoverOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const at = new URL('/redfish/v1/', url)
  const agent = bmcAgent(at, certificate === null ? {} : { certificate })
  try {
    const answer = await requestOnce({
      url: at,
      method: 'GET',
      headers: { accept: 'application/json' },
      agent,
      tls: {},
      clock,
      signal,
      limits: { ...DEFAULT_HTTP_LIMITS, header: PROBE_TIMEOUT, silence: PROBE_TIMEOUT },
    })
    const bytes = await readUpTo(2 ** 20, answer.body)
    const root: unknown = JSON.parse(bytes?.toString('utf8') ?? '')
    return answer.status === 200 && textIn(root, 'RedfishVersion') !== undefined
  } catch {
    return false
  } finally {
    agent.destroy()
  }
}

async function systemsOf(url: string, certificate: string | null, options: DiscoverOptions): Promise<FoundSystem[]> {
  const { username, password, clock, signal } = options
  const unknown = { url, certificate, system: null, serial: null, product: null, macs: [] }
  if (password === undefined) return [{ ...unknown, refused: 'no password to look further' }]
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
