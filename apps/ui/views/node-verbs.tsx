import { useState } from 'preact/hooks'
import { Curl } from '../parts/curl.js'
import { runWithNotice } from '../parts/notices.js'
import { callIronic, curlOf } from '../state/page-connection.js'
import type { FleetRow } from '../state/fleet-rows.js'
import { NODE_VERBS, type NodeVerb } from '../state/provision-verbs.js'

/** Verbs of a node as buttons, each with its call for a shell. */
export function NodeVerbs({ row }: { row: FleetRow }) {
  const [shown, setShown] = useState<NodeVerb | null>(null)
  const [asked, setAsked] = useState<NodeVerb | null>(null)
  const ask = (verb: NodeVerb): void => {
    setAsked(null)
    setShown(verb)
    void runWithNotice(() => callIronic(verb.call(row)), `${verb.title}: ${row.name} was asked.`)
  }
  const fitting = NODE_VERBS.filter((verb) => verb.fits(row))
  const verb = asked ?? shown ?? fitting[0]
  return (
    <section class="panel verbs" aria-label="Verbs">
      <div class="tools">
        {asked ? (
          <>
            <span>
              {asked.title} {asked.does}. Go on?
            </span>
            <button class="danger" onClick={() => ask(asked)}>
              {asked.title}
            </button>
            <button onClick={() => setAsked(null)}>Cancel</button>
          </>
        ) : (
          fitting.map((one) => (
            <button
              key={one.id}
              title={one.does}
              onMouseEnter={() => setShown(one)}
              onFocus={() => setShown(one)}
              onClick={() => (one.destroys ? setAsked(one) : ask(one))}
            >
              {one.title}
            </button>
          ))
        )}
      </div>
      {verb && <Curl text={curlOf(verb.call(row))} label={`${verb.title} as curl`} />}
    </section>
  )
}
