import type { BmcEntry, ExchangeEntry, JournalEntry } from '../../lab/index.js'

/** An entry that the view of exchanges shows. */
export type Call = ExchangeEntry | BmcEntry

export const isCall = (entry: JournalEntry): entry is Call => entry.kind === 'exchange' || entry.kind === 'bmc'

/** Those who take part in calls, in the order of the diagram. */
export const PARTIES = ['client', 'ironic', 'agent', 'bmc', 'machine', 'images'] as const
export type Party = (typeof PARTIES)[number]

export interface CallFilter {
  readonly node: string
  readonly party: string
  /** Words of the method and path. */
  readonly route: string
  /** `4`, `404`, `failed`. */
  readonly status: string
  /** Leaves out reads of clients that found what they asked for: those who wait ask again and again. */
  readonly isWithoutReads: boolean
}

export const partiesOf = (call: Call): readonly [string, string] =>
  call.kind === 'bmc' ? ['ironic', 'bmc'] : [call.from, call.to]

export const callText = (call: Call): string =>
  call.kind === 'exchange'
    ? `${call.method} ${call.target}`
    : call.method === null
      ? call.call
      : `${call.method} ${call.target ?? call.call}`

export const statusText = (call: Call): string =>
  call.status === null ? (call.error ?? (call.kind === 'bmc' ? 'ok' : 'no answer')) : String(call.status)

export const hasFailed = (call: Call): boolean =>
  call.error !== null || (call.status === null ? call.kind === 'exchange' : call.status >= 400)

const isRead = (call: Call): boolean =>
  call.kind === 'exchange' && call.from === 'client' && call.method === 'GET' && !hasFailed(call)

export function selectedCalls(calls: readonly Call[], filter: CallFilter): Call[] {
  const words = filter.route.toLowerCase().split(/\s+/).filter(Boolean)
  return calls.filter((call) => {
    if (filter.node !== '' && call.name !== filter.node && call.node !== filter.node) return false
    if (filter.party !== '' && !partiesOf(call).includes(filter.party)) return false
    if (filter.isWithoutReads && isRead(call)) return false
    if (filter.status === 'failed' ? !hasFailed(call) : !String(call.status ?? '').startsWith(filter.status))
      return false
    const text = callText(call).toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Entries that the page keeps: a tab that stays open does not grow. */
const MOST = 2000

/** The calls with more of them, the oldest of too many gone. */
export const withMore = (calls: readonly Call[], more: readonly Call[]): readonly Call[] =>
  more.length === 0 ? calls : [...calls, ...more].slice(-MOST)

/** An arrow of the sequence diagram. */
export interface Arrow {
  readonly call: Call
  /** Columns. */
  readonly from: number
  readonly to: number
  readonly label: string
  readonly answer: string
  readonly isBad: boolean
}

/** The diagram of some calls: only the parties that take part have a column. */
export function sequenceOf(calls: readonly Call[]): { parties: readonly string[]; arrows: readonly Arrow[] } {
  const present = new Set(calls.flatMap(partiesOf))
  const parties = [...PARTIES.filter((party) => present.has(party)), ...[...present].filter((one) => !isKnown(one))]
  const arrows = calls.map((call): Arrow => {
    const [from, to] = partiesOf(call)
    return {
      ...{ call, from: parties.indexOf(from), to: parties.indexOf(to), isBad: hasFailed(call) },
      ...{ label: shortText(callText(call)), answer: statusText(call) },
    }
  })
  return { parties, arrows }
}

const isKnown = (party: string): boolean => (PARTIES as readonly string[]).includes(party)

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** A path with the beginnings of its ids, cut where it is long. */
export function shortText(text: string, most = 64): string {
  const short = text.replace(UUID, (id) => `${id.slice(0, 8)}…`)
  return short.length > most ? `${short.slice(0, most - 1)}…` : short
}

/** The document of a body, as it is shown. */
export function bodyText(body: unknown): string {
  if (body === null || body === undefined) return ''
  return typeof body === 'string' ? body : JSON.stringify(body, null, 2)
}
