import { useState } from 'preact/hooks'
import type { ActivityReport } from '../../../control/index.js'
import { countText } from '../parts/count-text.js'
import { lengthText } from '../parts/clock-texts.js'
import { showNotice } from '../parts/notices.js'
import { usePolled } from '../parts/polled.js'
import { exchangeRate, hasFailed, lookCounts, progressOf, rateText, type FleetProgress } from '../state/activity.js'
import type { FleetRow } from '../state/fleet-rows.js'
import { faults, isFleet, processes } from '../state/lab-state.js'
import { callIronic } from '../state/page-connection.js'
import { askAll, outcomeText, verbOf, type NodeVerb } from '../state/provision-verbs.js'
import { LastHour } from './last-hour.js'

/** Milliseconds between two looks at what the lab did. */
const ACTIVITY_POLL_INTERVAL = 2000

/** The processes that have the database together, each with its role. */
export function Processes() {
  if (processes.value.length === 0) return null
  return (
    <p class="quiet" role="status" aria-label="Processes">
      {processes.value.map(({ name, role, alive }, index) => (
        <span key={name} class={alive ? '' : 'error-text'}>
          {index > 0 && ' · '}
          <span class="mono">{name}</span> ({role}){alive ? '' : ' has ended'}
        </span>
      ))}
    </p>
  )
}

/** How far the fleet is, how quickly it goes on, and its last hour. */
export function FleetOverview({ all }: { all: readonly FleetRow[] }) {
  const { value: activity } = usePolled((client) => client.activity(), ACTIVITY_POLL_INTERVAL)
  const progress = progressOf(all, activity)
  return (
    <section class="overview" aria-label="Progress">
      <div class="progress">
        <p class="headline">
          <span class="headline-number">
            {progress.percent}
            <span class="headline-unit">%</span>
          </span>{' '}
          <span class="headline-words">
            <strong>
              {progress.done} of {progress.total}
            </strong>{' '}
            {progress.goal}
          </span>
        </p>
        <ProgressBar progress={progress} />
        <p class="time-left">{timeLeftText(progress)}</p>
        <Figures progress={progress} activity={activity} />
        {!isFleet.value && <NextVerbs all={all} goesOn={activity?.goal ?? null} />}
      </div>
      <LastHour points={activity?.points ?? []} now={lookCounts(all)} />
    </section>
  )
}

/** A part of the bar for the machines that are there, and one for those that have failed. */
function ProgressBar({ progress: { done, failed, underway, total, goal } }: { progress: FleetProgress }) {
  const share = (count: number) => ({ width: `${total === 0 ? 0 : (100 * count) / total}%` })
  return (
    <div
      class="progress-bar"
      role="img"
      aria-label={`${done} ${goal}, ${underway} on their way, ${failed} failed, of ${total}`}
    >
      <span class="bar-done" style={share(done)} />
      <span class="bar-underway" style={share(underway)} />
      <span class="bar-failed" style={share(failed)} />
    </div>
  )
}

function timeLeftText({ timeLeft, underway, done, total, goal }: FleetProgress): string {
  if (total > 0 && done === total) return `All are ${goal}.`
  if (underway === 0) return 'Nothing is under way.'
  const machines = `${countText(underway, 'machine')} under way`
  if (timeLeft === null)
    return `${machines}; ${done > 0 ? 'none has arrived lately' : 'the time left is known once the first have arrived'}.`
  if (timeLeft === 0) return `${machines}, later than the others were.`
  return `About ${lengthText(timeLeft)} left: ${machines}.`
}

/** Rates, failures and faults, each with what it counts. */
function Figures({ progress, activity }: { progress: FleetProgress; activity: ActivityReport | null }) {
  const armed = faults.value.filter(({ struck }) => struck === 0).length
  const struck = faults.value.length - armed
  return (
    <dl class="figures">
      <div>
        <dt>arrivals a minute</dt>
        <dd>{progress.perMinute === null ? '–' : rateText(progress.perMinute)}</dd>
      </div>
      <div>
        <dt>exchanges a second</dt>
        <dd>{activity === null ? '–' : rateText(exchangeRate(activity.points))}</dd>
      </div>
      <div class={progress.failed > 0 ? 'figure-failed' : ''}>
        <dt>failed</dt>
        <dd>{progress.failed}</dd>
      </div>
      <div>
        <dt>
          <a href="#/faults">{armed === 1 ? 'fault waits' : 'faults wait'}</a>
          {struck > 0 && `, ${struck} struck`}
        </dt>
        <dd>{armed}</dd>
      </div>
    </dl>
  )
}

/** Verbs of a node's life, each with the button that asks it of all machines that are ready for it. */
const LIFE_BUTTONS: readonly { title: string; state: string; verb: NodeVerb }[] = [
  { title: 'Manage all', state: 'enroll', verb: verbOf('manage') },
  { title: 'Provide all', state: 'manageable', verb: verbOf('provide') },
  { title: 'Deploy all', state: 'available', verb: verbOf('install') },
]

/** True for a node that rests where its life goes on. */
const isReady = (row: FleetRow): boolean => row.isNode && row.target === null && !row.isInMaintenance && !hasFailed(row)

/** Sends all machines on that rest on their way to a deployment. Those that failed have buttons of their own. */
function NextVerbs({ all, goesOn }: { all: readonly FleetRow[]; goesOn: string | null }) {
  const [isBusy, setIsBusy] = useState(false)
  if (goesOn !== null)
    return (
      <p class="quiet goes-on">
        The nodes go on to {goesOn} by themselves: <code>--begin</code> asked for it.
      </p>
    )
  const choices = LIFE_BUTTONS.flatMap(({ title, state, verb }) => {
    const rows = all.filter((row) => row.state === state && isReady(row))
    return rows.length === 0 ? [] : [{ title, verb, rows }]
  })
  if (choices.length === 0) return null
  const ask = async (verb: NodeVerb, rows: readonly FleetRow[]): Promise<void> => {
    setIsBusy(true)
    const outcome = await askAll(verb, rows, callIronic)
    setIsBusy(false)
    showNotice(outcomeText(verb, outcome), outcome.refused.size > 0)
  }
  return (
    <p class="life">
      {all.every(({ state }) => state === 'enroll') && (
        <span class="quiet">
          A node is managed, provided, then deployed. <code>ironstage up --begin deploy</code> asks all of it by itself.
        </span>
      )}
      {choices.map(({ title, verb, rows }, index) => (
        <button
          key={title}
          class={index === choices.length - 1 ? 'primary' : ''}
          disabled={isBusy}
          title={`${verb.does}: ${countText(rows.length, 'machine')}`}
          onClick={() => void ask(verb, rows)}
        >
          {title} <span class="count">{rows.length}</span>
        </button>
      ))}
    </p>
  )
}
