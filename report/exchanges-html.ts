import { markup, type Html } from './html/html.js'
import { elapsedText, sizeText } from '../base/runtime/index.js'
import { htmlBadge, htmlTable } from './html/parts.js'
import { type ExchangeEntry, type JournalEntry, type JournalMessage, entryLine } from '../control/index.js'
import type { NodeDetails } from './node-details.js'

/** Exchanges that are shown with their bodies. */
const MAX_SHOWN_BODIES = 120
/** Characters of a body. */
const MAX_SHOWN_BODY_LENGTH = 4000

/** The exchanges of a node, and all of its journal. */
export function exchangesHtml({ entries }: NodeDetails): Html {
  const exchanges = entries.filter((entry) => entry.kind === 'exchange').filter((entry) => !isLook(entry))
  const shown = exchanges.slice(-MAX_SHOWN_BODIES)
  return markup`${
    exchanges.length > 0 &&
    markup`<details><summary>Exchanges without reads of clients (${exchanges.length}${exchanges.length > shown.length && `, the last ${shown.length} shown`})</summary>${htmlTable(
      [
        { title: 'Time', kind: 'time' },
        { title: 'Between' },
        { title: 'Call', kind: 'wide' },
        { title: 'Answer' },
        { title: 'Took', kind: 'number' },
      ],
      shown.map(exchangeRow),
    )}</details>`
  }
<details><summary>Journal (${entries.length} entries)</summary><pre>${entries.map((entry: JournalEntry) => `${entryLine(entry)}\n`).join('')}</pre></details>`
}

/** A client that looks how far it is, and finds what it looks for. */
const isLook = ({ from, to, method, status, nearMiss }: ExchangeEntry): boolean =>
  from === 'client' && to === 'ironic' && method === 'GET' && status === 200 && nearMiss === null

function exchangeRow(entry: ExchangeEntry) {
  const { labTime, from, to, method, target, status, error, duration, nearMiss, fault, request, response } = entry
  const isBad = status === null || status >= 400
  return [
    labTime.slice(11, 23),
    `${from} → ${to}`,
    markup`<code>${method} ${target}</code>${nearMiss && markup`<br><small>nearest is ${nearMiss.nearest}: ${nearMiss.why}</small>`}${bodiesHtml(request, response)}`,
    markup`${htmlBadge(status === null ? (error ?? 'no answer') : String(status), isBad ? 'bad' : 'good')}${fault !== null && markup` <small>${fault}</small>`}`,
    elapsedText(duration),
  ]
}

function bodiesHtml(request: JournalMessage, response: JournalMessage | null): Html | null {
  const parts = [renderBody('request', request), renderBody('answer', response)].filter((part) => part !== '')
  return parts.length === 0
    ? null
    : markup`<details><summary>bodies</summary><pre>${parts.join('\n\n')}</pre></details>`
}

function renderBody(what: string, message: JournalMessage | null): string {
  if (!message || message.size === 0) return ''
  const { body, size } = message
  if (body === null) return `${what}: ${sizeText(size)}, too large to be kept`
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2)
  return `${what}, ${sizeText(size)}:\n${text.length > MAX_SHOWN_BODY_LENGTH ? `${text.slice(0, MAX_SHOWN_BODY_LENGTH)}…` : text}`
}
