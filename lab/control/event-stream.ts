import { UserError } from '../../base/runtime/index.js'
import { answerOfStream, type WireResponse } from '../../base/wire/index.js'
import type { JournalEntry, JournalQuery } from '../../control/index.js'
import { TooSlow, type Journal } from '../journal/journal.js'

/**
 * Entries of a journal as server-sent events, from the present on, or after an entry. A reader that is too slow is cut off
 * with an event `lost`.
 *
 * @param last the header `Last-Event-ID`
 * @throws UserError `bad-request`
 */
export function eventStream(journal: Journal, query: JournalQuery, last: string | undefined): WireResponse {
  const wrong = (message: string, remedy: string) => new UserError('bad-request', message, { remedy, kind: 'usage' })
  if (last !== undefined && !/^\d{1,15}$/.test(last))
    throw wrong(
      `Last-Event-ID is ${JSON.stringify(last)}, which is not an id of an entry`,
      'leave it out, or send the id of the last event that came',
    )
  const after = last === undefined ? (query.after ?? journal.last) : Number(last)
  // A reader of an earlier lab would wait for as many entries as that one had.
  if (after > journal.last)
    throw wrong(`there is no entry ${after}: the last one is ${journal.last}`, 'leave the id out: it is of another lab')
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }
  return answerOfStream(200, headers, async function* (signal, isOverSocket) {
    // The answer's header leaves with its first bytes.
    yield ': entries of the journal\n\n'
    try {
      for await (const entries of journal.follow({ ...query, after }, signal, { isPatient: isOverSocket ?? false }))
        yield formatEvents(entries, journal)
    } catch (error) {
      if (!(error instanceof TooSlow)) throw error
      yield `event: lost\ndata: ${JSON.stringify({ message: error.message })}\n\n`
    }
  })
}

/** Readers who ask for the same get the same entries, and the same bytes. */
const eventFrames = new WeakMap<readonly JournalEntry[], Uint8Array>()

function formatEvents(entries: readonly JournalEntry[], journal: Journal): Uint8Array | string {
  if (entries.length === 0) return ': nothing new\n\n'
  const known = eventFrames.get(entries)
  if (known !== undefined) return known
  const frame = Buffer.from(
    entries.map((entry) => `id: ${entry.id}\nevent: ${entry.kind}\ndata: ${journal.textOf(entry)}\n\n`).join(''),
  )
  eventFrames.set(entries, frame)
  return frame
}
