import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defined, delaySignal, isObject, MIB, seconds, type Clock, type Logger } from '../../base/runtime/index.js'
import {
  pathKey,
  RedfishDump,
  schemaAt,
  textAt,
  unusableDump,
  type DumpedDocument,
  type DumpedResource,
} from '../../bmc/dumps/index.js'
import { RedfishClient, RedfishRefused, type RedfishAnswer } from '../hardware-lab/index.js'
import { withoutLiveResources } from './mask-identities.js'
import { withoutSecrets } from './mask-secrets.js'
import { writeDump, writeWhole } from './write-dump.js'

export interface TakeDumpOptions {
  /** `https://192.0.2.11` */
  readonly url: string
  readonly username: string
  readonly password: string
  /** SHA-256 fingerprint of the BMC's certificate. */
  readonly certificate?: string
  /** Believes any certificate. */
  readonly insecure?: boolean
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
  /** Milliseconds between two requests: BMCs are small, and have other work. */
  readonly pause?: number
  /** Called with the number of resources read, and of those that are known to be left. */
  readonly progress?: (read: number, left: number) => void
}

/** A dump of a running BMC. */
export interface TakenDump {
  readonly dump: RedfishDump
  /** Paths that could not be read, with the status of the answer. */
  readonly unread: readonly { readonly path: string; readonly status: number }[]
}

const DUMP_PAUSE = 100
/** Resources of a BMC: the largest public dump, of a DGX H100, has 5,091. */
const MAX_RESOURCES = 20_000
const MAX_DUMPED_BYTES = 256 * MIB
/** Links from the root; a service whose links never end has more. */
const MAX_LINK_DEPTH = 40
/** Pages of a collection. */
const MAX_PAGES = 200
/** Milliseconds after a stop in which a session that is being opened can still be closed. */
const SIGN_IN_GRACE = seconds(3)

/** Paths that are not read: descriptions of schemas, and chassis whose reading has made iDRACs start again (check_redfish). */
const UNREAD_PATH =
  /^\/redfish\/v1\/(?:JsonSchemas\/|\$metadata|Chassis\/(?:RAID|Enclosure)\.)|\.(?:xml|zip|tgz|gz|bin)$/i

/** Collections whose members tell of events and sessions. */
const UNREAD_MEMBERS = /^(?:LogEntry|Session|EventDestination|JsonSchemaFile)Collection$/

/**
 * Reads all resources of a BMC, one after another. Nothing is changed; the session is closed, also after a failure.
 *
 * @throws UserError `bmc-dump` for links without an end, `bmc-unreachable`, `bmc-certificate`, `bmc-refused`
 */
export async function takeDump(options: TakeDumpOptions): Promise<TakenDump> {
  const { url, username, password, clock, logger, certificate, insecure } = options
  await using client = new RedfishClient({
    url,
    username,
    password,
    clock,
    logger,
    ...defined({ certificate, insecure }),
  })
  return await new DumpWalk(client, options).run()
}

/** Walks over all links from the root, each resource once. */
class DumpWalk {
  readonly #client: RedfishClient
  readonly #options: TakeDumpOptions
  readonly #seen = new Set<string>()
  readonly #waiting: { readonly path: string; readonly depth: number }[] = []
  readonly #resources: DumpedResource[] = []
  readonly #unread: { path: string; status: number }[] = []
  #bytes = 0

  constructor(client: RedfishClient, options: TakeDumpOptions) {
    this.#client = client
    this.#options = options
  }

  async run(): Promise<TakenDump> {
    const { signal, clock, pause = DUMP_PAUSE, progress, url } = this.#options
    // The first call opens the session. It is waited for: a session without a token here would stay open for half an hour.
    await this.#client.get('/redfish/v1/', delaySignal(signal, SIGN_IN_GRACE, clock))
    this.#add('/redfish/v1', 0)
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      signal.throwIfAborted()
      await this.#read(next.path, next.depth)
      progress?.(this.#resources.length, this.#waiting.length)
      await clock.sleep(pause, { signal })
    }
    if (!this.#resources.some(({ path }) => path === '/redfish/v1'))
      throw unusableDump(`${url} is no Redfish service: it has no /redfish/v1`, 'name the address of a BMC')
    const plain = withoutLiveResources(new RedfishDump(url, this.#resources))
    return { dump: plain, unread: this.#unread }
  }

  #add(path: string, depth: number): void {
    const key = pathKey(path)
    if (this.#seen.has(key) || UNREAD_PATH.test(key)) return
    if (this.#seen.size >= MAX_RESOURCES)
      throw unusableDump(
        `${this.#options.url} has links to more than ${MAX_RESOURCES} resources, and may have no end of them`,
        'nothing was written; tell its maker',
      )
    if (depth > MAX_LINK_DEPTH)
      throw unusableDump(
        `${this.#options.url} has a chain of more than ${MAX_LINK_DEPTH} links, which ends at ${path}`,
        'nothing was written; tell its maker',
      )
    this.#seen.add(key)
    this.#waiting.push({ path, depth })
  }

  async #read(path: string, depth: number): Promise<void> {
    const answer = await this.#answer(path)
    if (!answer || Object.keys(answer.body).length === 0) return
    const whole = await this.#withAllMembers(answer.body)
    const document = withoutSecrets(whole)
    this.#bytes += JSON.stringify(document).length
    if (this.#bytes > MAX_DUMPED_BYTES)
      throw unusableDump(`the resources of ${this.#options.url} have more than ${MAX_DUMPED_BYTES / MIB} MiB`)
    const headers = Object.fromEntries(
      Object.entries(answer.headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    )
    this.#resources.push({ path: pathKey(path), document, headers })
    const isOpen = !UNREAD_MEMBERS.test(schemaAt(document) ?? '')
    for (const link of linksOf(document)) if (isOpen || !isBelow(link, path)) this.#add(link, depth + 1)
  }

  /** The answer to a GET; undefined for a resource that cannot be read. */
  async #answer(path: string): Promise<RedfishAnswer | undefined> {
    try {
      return await this.#client.send('GET', path, undefined, this.#options.signal)
    } catch (error) {
      if (!(error instanceof RedfishRefused) || error.status === 401) throw error
      this.#unread.push({ path, status: error.status })
      return undefined
    }
  }

  /** A collection with the members of all its pages. */
  async #withAllMembers(document: DumpedDocument): Promise<DumpedDocument> {
    const pages = new Set<string>()
    const members: unknown[] = Array.isArray(document['Members']) ? [...(document['Members'] as unknown[])] : []
    const next = (page: DumpedDocument) => textAt(page, 'Members@odata.nextLink') ?? textAt(page, '@odata.nextLink')
    let link = next(document)
    if (link === undefined) return document
    if (UNREAD_MEMBERS.test(schemaAt(document) ?? '')) return document
    while (link !== undefined && link.startsWith('/') && !pages.has(link)) {
      if (pages.size >= MAX_PAGES)
        throw unusableDump(
          `${String(document['@odata.id'])} of ${this.#options.url} has more than ${MAX_PAGES} pages, and may have no end`,
          'nothing was written; tell its maker',
        )
      pages.add(link)
      const page: DumpedDocument = (await this.#answer(link))?.body ?? {}
      if (Array.isArray(page['Members'])) members.push(...(page['Members'] as unknown[]))
      link = next(page)
    }
    const { 'Members@odata.nextLink': _, '@odata.nextLink': __, ...rest } = document
    return { ...rest, 'Members@odata.count': members.length, Members: members }
  }
}

const isBelow = (link: string, path: string): boolean =>
  pathKey(link)
    .toLowerCase()
    .startsWith(`${pathKey(path).toLowerCase()}/`)

/** Properties that lead to other resources. */
const LINK_NAMES = ['@odata.id', 'Uri', '@Redfish.ActionInfo']

/** The paths that a document leads to, without fragments; other hosts and folders are none. */
function linksOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(linksOf)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    if (!LINK_NAMES.includes(name) || typeof inner !== 'string') return linksOf(inner)
    const plain = inner.replace(/[?#].*$/s, '')
    return plain.startsWith('/') && !plain.startsWith('//') && !plain.includes('/../') ? [plain] : []
  })
}

/** Writes a dump into a new folder: all of it, or nothing. @throws UserError `bmc-dump` for a folder that is there */
export async function writeTaken({ dump, unread }: TakenDump, folder: string): Promise<void> {
  await writeWhole(folder, async (unfinished) => {
    await writeDump(dump, unfinished)
    await writeFile(join(unfinished, 'README'), readmeOf(dump, unread))
  })
}

function readmeOf(dump: RedfishDump, unread: TakenDump['unread']): string {
  const lines = [
    `${dump.size} resources of a Redfish service, made by ironstage bmc dump, in the form of Redfish-Mockup-Creator.`,
    'Passwords, keys and certificates are left out; serial numbers, addresses and names are those of the machine.',
    'Not read: JSON schemas, entries of logs, sessions, and chassis of RAID enclosures of Dell.',
    ...unread.map(({ path, status }) => `Not read: ${path} (${status}).`),
  ]
  return `${lines.join('\n')}\n`
}

/** @throws UserError `bmc-dump` (usage) for what is no URL of a BMC */
export function checkedAddress(address: string): string {
  const written = /^[a-z]+:\/\//i.test(address) ? address : `https://${address}`
  const url = URL.canParse(written) ? new URL(written) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw unusableDump(`${address} is no address of a BMC`, 'write it as https://192.0.2.11')
  if (url.username !== '' || url.password !== '')
    throw unusableDump(
      `the address ${url.protocol}//${url.host} has an account in it`,
      'name it with --bmc-user and --bmc-password-file',
    )
  return url.origin
}
