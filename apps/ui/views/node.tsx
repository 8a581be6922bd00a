import type { NodeTimeline } from '../../../control/index.js'
import { clockText, lengthText, sinceText } from '../parts/clock-texts.js'
import { useFollowed, type FollowedSubject } from '../parts/followed.js'
import { useKeys } from '../parts/page-keys.js'
import { goToRoute } from '../parts/navigation.js'
import { saveReport } from '../parts/save-report.js'
import { Mark } from '../parts/shapes.js'
import { connectionState } from '../state/page-connection.js'
import { labTime, rows, rowsVersion } from '../state/lab-state.js'
import { lookOf } from '../state/looks.js'
import { formatRoute } from '../state/page-route.js'
import { stateSinceText, type FleetRow } from '../state/fleet-rows.js'
import { NodeRecordPanel } from './node-record.js'
import { NodeTimelinePicture } from './node-timeline.js'
import { NodeVerbs } from './node-verbs.js'
import { NodeWanted } from './node-wanted.js'

const NODE_SUBJECT: FollowedSubject<NodeTimeline> = {
  read: (client, id) => client.timeline(id),
  entriesOf: (node) => ({ node }),
  soon: 250,
}

/** A node: where it stands, why, its past, its verbs and its record. */
export function NodeView({ ident }: { ident: string | null }) {
  void rowsVersion.value
  const row = ident === null ? undefined : rows.named(ident)
  const { value: timeline, problem } = useFollowed(row?.id ?? null, NODE_SUBJECT)
  useKeys(() => neighbourKeys(ident), [ident])
  if (!row)
    return (
      <p class="empty">
        {connectionState.value.kind === 'connecting' ? 'Loading …' : `There is no node ${ident ?? ''}.`}{' '}
        <a href="#/fleet">The fleet</a> lists all nodes.
      </p>
    )
  return (
    <>
      <p class="path">
        <a href="#/fleet">Fleet</a> <span class="quiet">/</span> {row.name}
        <button class="report" onClick={() => void saveReport(row.name)}>
          Save report
        </button>
      </p>
      <Head row={row} timeline={timeline} />
      {problem !== null && <p class="error-text">{problem}</p>}
      <NodeVerbs row={row} />
      {timeline && <Why timeline={timeline} />}
      <NodeWanted id={row.id} />
      {timeline && <NodeTimelinePicture timeline={timeline} />}
      {timeline?.plan && <Plan plan={timeline.plan} />}
      <NodeRecordPanel id={row.id} version={timeline?.states.length ?? 0} state={row.state} />
    </>
  )
}

/** Keys that lead to the nodes beside this one. */
function neighbourKeys(ident: string | null) {
  const step = (by: number) => () => {
    const list = rows.list()
    const at = list.findIndex(({ name, id }) => name === ident || id === ident)
    const next = list[at + by]
    if (next) goToRoute({ view: 'nodes', ident: next.name })
  }
  return [
    { key: 'j', does: 'next node', act: step(1) },
    { key: 'k', does: 'previous node', act: step(-1) },
    { key: 'u', does: 'up to the fleet', act: () => goToRoute({ view: 'fleet' }) },
  ]
}

function Head({ row, timeline }: { row: FleetRow; timeline: NodeTimeline | null }) {
  const faults = rows.struckBy(row.id)
  const until = timeline?.waiting?.until ?? null
  return (
    <section class="node-head" aria-label="Node">
      <h1>
        <Mark look={row.look} /> {row.name}
      </h1>
      <p class="node-state">
        <strong>{row.state}</strong>
        {row.target !== null && <> (target: {row.target})</>}
        {row.since !== null && <> {stateSinceText(row, sinceText(row.since))}</>}
        {row.isInMaintenance && <span class="tag">maintenance</span>}
      </p>
      {timeline?.waiting && (
        <p>
          Waits for {timeline.waiting.what}
          {until !== null && (
            <>
              , until <span class="mono">{clockText(Date.parse(until))}</span> (
              {lengthText(Math.max(0, Date.parse(until) - labTime()))} left)
            </>
          )}
          .
        </p>
      )}
      <p class="quiet facts">
        <span class="mono">{row.id}</span>
        <span>{row.power ?? 'power unknown'}</span>
        {row.machine !== null && (
          <a href={formatRoute({ view: 'machines', ident: row.machine })}>machine {row.machine}</a>
        )}
        <a href={formatRoute({ view: 'exchanges', query: { node: row.name } })}>exchanges</a>
        {faults.map((id) => (
          <a key={id} href="#/faults">
            struck by {id}
          </a>
        ))}
      </p>
    </section>
  )
}

/** The last error, and what led to it. */
function Why({ timeline: { causes, remedy } }: { timeline: NodeTimeline }) {
  if (causes.length === 0) return null
  return (
    <section class="panel why" aria-label="Last error">
      <h2>Last error</h2>
      <ol>
        {causes.map(({ text, at, fault }, index) => (
          <li key={`${index}`} class={index === 0 ? 'error-text' : ''}>
            <span class="mono">{text}</span>
            {at !== null && <span class="quiet"> {clockText(Date.parse(at))}</span>}
            {fault !== null && (
              <>
                {' '}
                <a href="#/faults">{fault}</a>
              </>
            )}
          </li>
        ))}
      </ol>
      {remedy !== null && (
        <p>
          <strong>What to do:</strong> {remedy}.
        </p>
      )}
    </section>
  )
}

const STATUS_LOOKS = { done: 'active', current: 'working', waiting: 'enroll' } as const

/** The steps of the flow that it is in. */
function Plan({ plan }: { plan: NonNullable<NodeTimeline['plan']> }) {
  return (
    <section class="panel" aria-label="Plan of steps">
      <h2>Steps of the {plan.flow}</h2>
      <div class="scrolled" tabIndex={0} role="region" aria-label="Steps">
        <table>
          <thead>
            <tr>
              <th>Step</th>
              <th>Priority</th>
              <th>Origin</th>
              <th>Status</th>
              <th>Arguments</th>
            </tr>
          </thead>
          <tbody>
            {plan.steps.map((step, index) => (
              <tr key={index}>
                <td class="mono">
                  {step.interface}.{step.step}
                </td>
                <td>{step.priority}</td>
                <td>{step.askedBy}</td>
                <td>
                  <Mark look={lookOf(STATUS_LOOKS[step.status])} /> {step.status}
                </td>
                <td class="mono">{step.args && Object.keys(step.args).length > 0 ? JSON.stringify(step.args) : ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
