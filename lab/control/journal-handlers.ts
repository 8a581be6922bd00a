import { defined, UserError } from '../../base/runtime/index.js'
import type { JournalKind, JournalQuery, ControlHandler, ControlOperationId } from '../../control/index.js'
import { makeHar } from '../journal/har.js'
import type { Journal } from '../journal/journal.js'
import { eventStream } from './event-stream.js'

/** Most entries of one answer. */
export const MAX_ENTRIES = 1000

/** The calls that read the journal. */
export const journalHandlers = (journal: Journal) =>
  ({
    journal: ({ query, request }) => {
      const limit = Math.min(Number(query['limit'] ?? 100), MAX_ENTRIES)
      if (query['last'] !== undefined) {
        const all = journal.entries(queryFrom(query))
        const last = Math.min(Number(query['last']), MAX_ENTRIES)
        return { entries: all.slice(Math.max(0, all.length - last)), next: null }
      }
      const entries = journal.entries(queryFrom(query), limit)
      const last = entries.at(-1)?.id
      const isMore = entries.length === limit && last !== undefined && last < journal.last
      return { entries, next: isMore ? nextUrl(request.base, request.target, last) : null }
    },
    journalNdjson: ({ query }) => ({
      status: 200,
      headers: { 'content-type': 'application/x-ndjson' },
      body: journal
        .entries(queryFrom(query))
        .map((entry) => `${journal.textOf(entry)}\n`)
        .join(''),
    }),
    journalHar: ({ query }) => makeHar(journal.entries(queryFrom(query))),
    events: ({ query, request }) => eventStream(journal, queryFrom(query), request.headers['last-event-id']),
  }) satisfies Partial<Record<ControlOperationId, ControlHandler>>

/** The entries that a query selects. */
export function queryFrom(query: Readonly<Record<string, string>>): JournalQuery {
  const { kind, status, after, since, until, limit: _, last: _last, ...rest } = query
  return {
    ...rest,
    ...defined({
      kind: kind === undefined ? undefined : (kind.split(',') as JournalKind[]),
      status: status === undefined ? undefined : Number(status),
      after: after === undefined ? undefined : entryId(after),
      since: since === undefined ? undefined : parseQueryTime('since', since),
      until: until === undefined ? undefined : parseQueryTime('until', until),
    }),
  }
}

/** @throws UserError `bad-request` for a cursor of several processes */
function entryId(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new UserError('bad-request', `after is ${JSON.stringify(text)}, which is a place in several journals`, {
    kind: 'usage',
    remedy: 'send the id of an entry: one process has this journal',
  })
}

function parseQueryTime(name: string, text: string): number {
  const time = Date.parse(text)
  if (!Number.isNaN(time)) return time
  throw new UserError('bad-request', `${name} is ${JSON.stringify(text)}, which is not a time`, {
    kind: 'usage',
    remedy: 'a time as entries have it: 2026-01-01T00:31:00Z',
  })
}

/** The URL of the next page. */
export function nextUrl(base: string, target: string, after: number | string): string {
  const url = new URL(target, base)
  url.searchParams.set('after', String(after))
  return url.href
}
