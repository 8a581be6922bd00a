import type { BmcEntry, ExchangeEntry, JournalEntry } from '../../../control/index.js'
import { curlText, quoteShellWord } from './page-connection.js'

/** An entry that the view of exchanges shows. */
export type ShownExchange = ExchangeEntry | BmcEntry

export const isCall = (entry: JournalEntry): entry is ShownExchange => entry.kind === 'exchange' || entry.kind === 'bmc'

/** Tells a call apart from all others: of several processes that have one database, each counts its own. */
export const callKey = ({ id, process }: Pick<JournalEntry, 'id' | 'process'>): string =>
  process === undefined ? String(id) : `${process} ${id}`

/** True if a call stands before another in the journal. */
export const isBefore = (call: ShownExchange, other: ShownExchange): boolean =>
  call.process === other.process ? call.id < other.id : call.labTime < other.labTime

/** Those who take part in calls, in the order of the diagram. */
export const PARTIES = ['client', 'ironic', 'agent', 'bmc', 'machine', 'images'] as const

export interface CallFilter {
  /** Name or uuid of a node, id of a machine. */
  readonly node: string
  readonly party: string
  /** Words of the method and path. */
  readonly route: string
  /** `4`, `404`, `failed`. */
  readonly status: string
  /** Leaves out reads of clients that found what they asked for: those who wait ask again and again. */
  readonly isWithoutReads: boolean
}

export const partiesOf = (call: ShownExchange): readonly [string, string] =>
  call.kind === 'bmc' ? ['ironic', 'bmc'] : [call.from, call.to]

export const callText = (call: ShownExchange): string =>
  call.kind === 'exchange'
    ? `${call.method} ${call.target}`
    : call.method === null
      ? call.call
      : `${call.method} ${call.target ?? call.call}`

export const statusText = (call: ShownExchange): string =>
  call.status === null ? (call.error ?? (call.kind === 'bmc' ? 'ok' : 'no answer')) : String(call.status)

export const hasFailed = (call: ShownExchange): boolean =>
  call.error !== null || (call.status === null ? call.kind === 'exchange' : call.status >= 400)

const isRead = (call: ShownExchange): boolean =>
  call.kind === 'exchange' && call.from === 'client' && call.method === 'GET' && !hasFailed(call)

export function selectedCalls(calls: readonly ShownExchange[], filter: CallFilter): ShownExchange[] {
  const words = filter.route.toLowerCase().split(/\s+/).filter(Boolean)
  return calls.filter((call) => {
    if (filter.node !== '' && ![call.name, call.node, call.machine].includes(filter.node)) return false
    if (filter.party !== '' && !partiesOf(call).includes(filter.party)) return false
    if (filter.isWithoutReads && isRead(call)) return false
    if (filter.status === 'failed' ? !hasFailed(call) : !String(call.status ?? '').startsWith(filter.status))
      return false
    const text = callText(call).toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Entries that the page keeps: a tab that stays open does not grow. */
const MAX_PAGE_EXCHANGES = 2000

/** The calls with more of them, the oldest of too many gone. */
export const withMore = (calls: readonly ShownExchange[], more: readonly ShownExchange[]): readonly ShownExchange[] =>
  more.length === 0 ? calls : [...calls, ...more].slice(-MAX_PAGE_EXCHANGES)

/** An arrow of the sequence diagram. */
export interface Arrow {
  readonly call: ShownExchange
  /** Columns. */
  readonly from: number
  readonly to: number
  readonly label: string
  readonly answer: string
  readonly isBad: boolean
}

/** The diagram of some calls: only the parties that take part have a column. */
export function sequenceOf(calls: readonly ShownExchange[]): { parties: readonly string[]; arrows: readonly Arrow[] } {
  const present = new Set(calls.flatMap(partiesOf))
  const parties = [
    ...PARTIES.filter((party) => present.has(party)),
    ...[...present].filter((one) => !isKnownParty(one)),
  ]
  const arrows = calls.map((call): Arrow => {
    const [from, to] = partiesOf(call)
    return {
      call,
      from: parties.indexOf(from),
      to: parties.indexOf(to),
      isBad: hasFailed(call),
      label: shortText(callText(call)),
      answer: statusText(call),
    }
  })
  return { parties, arrows }
}

/** Variables of a shell for the servers that this page does not know the URL of. */
const SERVERS: Readonly<Record<string, string>> = { agent: 'AGENT_URL', bmc: 'BMC_URL', images: 'IMAGES_URL' }

/** A method of HTTP; of a call by IPMI or within Ironic there is no such. */
const HTTP_METHOD = /^(GET|HEAD|PUT|POST|PATCH|DELETE)$/

/** A call for a shell, as it was made; null for one that was no HTTP. Secrets are masked in it. */
export function curlOfCall(call: ShownExchange, url: string): string | null {
  const { method, target } = call
  if (method === null || target === null || !HTTP_METHOD.test(method)) return null
  const to = partiesOf(call)[1]
  const server = SERVERS[to]
  const { headers = {}, body = null } = call.kind === 'exchange' ? call.request : {}
  return curlText({
    method,
    version: headers['x-openstack-ironic-api-version'] ?? null,
    url: server === undefined ? quoteShellWord(`${url}${target}`) : `"$${server}"${quoteShellWord(target)}`,
    ...(body === null ? {} : { body }),
  })
}

const isKnownParty = (party: string): boolean => (PARTIES as readonly string[]).includes(party)

const EXCHANGE_UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** A path with the beginnings of its ids. */
export const shortText = (text: string): string => text.replace(EXCHANGE_UUIDS, (id) => `${id.slice(0, 8)}…`)

/** A text that is cut where it has more letters than there is room for. */
export const cutText = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, Math.max(4, Math.floor(most) - 1))}…` : text

/** Lengths in pixels. */
const NARROW = 640
const TIME_WIDTH = 82
const TIME_WIDE = 130
const NARROW_END_WIDTH = 26
const END_WIDTH = 150
const MIN_COLUMN_WIDTH = 72
const MAX_COLUMN_WIDTH = 230

/** Columns of the diagram: in a narrow window they stand close, and times have no milliseconds. */
export function sequencePlaces(
  room: number,
  parties: number,
): { width: number; left: number; column: number; isNarrow: boolean } {
  const isNarrow = room < NARROW
  const left = isNarrow ? TIME_WIDTH : TIME_WIDE
  const end = isNarrow ? NARROW_END_WIDTH : END_WIDTH
  const gaps = Math.max(1, parties - 1)
  const column = Math.max(MIN_COLUMN_WIDTH, Math.min(MAX_COLUMN_WIDTH, (room - left - end) / gaps))
  return { width: Math.max(room, left + gaps * column + end), left, column, isNarrow }
}

/** The document of a body, as it is shown. */
export function formatBody(body: unknown): string {
  if (body === null || body === undefined) return ''
  return typeof body === 'string' ? body : JSON.stringify(body, null, 2)
}
