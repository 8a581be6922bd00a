import { useLayoutEffect, useRef } from 'preact/hooks'
import type { JournalMessage } from '../../../control/index.js'
import { labUrl } from '../browser.js'
import { lengthText } from '../parts/clock-texts.js'
import { Curl } from '../parts/curl.js'
import {
  formatBody,
  callText,
  curlOfCall,
  hasFailed,
  partiesOf,
  statusText,
  type ShownExchange,
} from '../state/exchanges.js'
import { formatRoute } from '../state/page-route.js'

/** A call with its bodies, in which secrets are masked. */
export function ExchangeDetails({ call, close }: { call: ShownExchange; close: () => void }) {
  const [from, to] = partiesOf(call)
  const { labTime, duration, fault, name, node, machine } = call
  const box = useRef<HTMLElement>(null)
  useLayoutEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [call.id])
  return (
    <section ref={box} class="panel exchange" aria-label="Call">
      <div class="tools">
        <h2 class="mono">{callText(call)}</h2>
        <span class="space" />
        <button class="plain" aria-label="Close the call" onClick={close}>
          ×
        </button>
      </div>
      <p class="facts quiet">
        <span>
          {from} → {to}
        </span>
        <span class="mono">{labTime}</span>
        <span>{duration < 1000 ? `${Math.round(duration)} ms` : lengthText(duration)}</span>
        <strong class={hasFailed(call) ? 'error-text' : ''}>{statusText(call)}</strong>
        {fault !== null && <a href="#/faults">struck by {fault}</a>}
        {(name ?? node) !== null && <a href={formatRoute({ view: 'nodes', ident: name ?? node })}>{name ?? node}</a>}
        {machine !== null && <a href={formatRoute({ view: 'machines', ident: machine })}>machine {machine}</a>}
      </p>
      {call.kind === 'exchange' && call.nearMiss && (
        <p class="near-miss">
          Nearest is <span class="mono">{call.nearMiss.nearest}</span>: {call.nearMiss.why}.
        </p>
      )}
      <CallAsCurl call={call} />
      {call.kind === 'exchange' && (
        <div class="bodies">
          <MessagePart title="Request" message={call.request} />
          <MessagePart title="Answer" message={call.response} />
        </div>
      )}
    </section>
  )
}

/** The call for a shell. Masked secrets and servers elsewhere are the user's to fill in. */
function CallAsCurl({ call }: { call: ShownExchange }) {
  const text = curlOfCall(call, labUrl())
  if (text === null) return null
  const variable = /"\$(\w+)"/.exec(text)?.[1]
  return (
    <>
      <Curl text={text} label="The call as curl" />
      {(variable !== undefined || text.includes('***')) && (
        <p class="quiet">
          {text.includes('***') && '*** stands for a masked secret. '}
          {variable !== undefined && `${variable} is the address of the server.`}
        </p>
      )}
    </>
  )
}

function MessagePart({ title, message }: { title: string; message: JournalMessage | null }) {
  if (!message) return <p class="quiet">{title}: none came.</p>
  const body = formatBody(message.body)
  return (
    <div>
      <h3>
        {title} <span class="quiet">{message.size} bytes</span>
      </h3>
      <details>
        <summary>Headers</summary>
        <pre tabIndex={0} aria-label={`Headers of the ${title.toLowerCase()}`}>
          {Object.entries(message.headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        </pre>
      </details>
      {body !== '' ? (
        <pre class="json" tabIndex={0} aria-label={`Body of the ${title.toLowerCase()}`}>
          {body}
        </pre>
      ) : (
        message.size > 0 && <p class="quiet">The body is too large to be kept.</p>
      )}
    </div>
  )
}
