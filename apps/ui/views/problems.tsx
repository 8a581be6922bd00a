import { useState } from 'preact/hooks'
import { runWithNotice, showNotice } from '../parts/notices.js'
import { Mark } from '../parts/shapes.js'
import { callIronic, makeLabClient } from '../state/page-connection.js'
import { faults, labTime, readFaults, rows } from '../state/lab-state.js'
import { problemsOf, type MachineProblem } from '../state/problems.js'
import { formatRoute } from '../state/page-route.js'
import type { FleetRow } from '../state/fleet-rows.js'
import { askAll, outcomeText, verbOf } from '../state/provision-verbs.js'
import { selectMachines } from './selection.js'

/** Names that are listed. */
const MAX_PROBLEM_NAMES = 6
/** Problems that are shown until all are asked for. */
const MAX_SHOWN_PROBLEMS = 3
/** Characters of an error; its node's page has all of it. */
const MAX_ERROR_LENGTH = 400

/** Machines that fail or hang, why, and what helps. */
export function Problems({ all }: { all: readonly FleetRow[] }) {
  const problems = problemsOf(all, faults.value, (id) => rows.struckBy(id), labTime())
  const [areAllShown, setAreAllShown] = useState(false)
  if (problems.length === 0) return null
  const count = problems.reduce((sum, problem) => sum + problem.rows.length, 0)
  return (
    <section aria-label="Problems" class="problems">
      <h2>
        {count} {count === 1 ? 'machine needs' : 'machines need'} attention
      </h2>
      <ul>
        {(areAllShown ? problems : problems.slice(0, MAX_SHOWN_PROBLEMS)).map((problem) => (
          <ProblemItem key={problem.key} problem={problem} />
        ))}
      </ul>
      {problems.length > MAX_SHOWN_PROBLEMS && (
        <button class="all-problems" aria-expanded={areAllShown} onClick={() => setAreAllShown(!areAllShown)}>
          {areAllShown ? 'Only the most frequent' : `All ${problems.length} problems`}
        </button>
      )}
    </section>
  )
}

const TITLES: Readonly<Record<MachineProblem['kind'], (state: string) => string>> = {
  failed: (state) => state,
  error: (state) => `${state}, with an error`,
  blocked: (state) => `${state}, cannot continue`,
  slow: (state) => `${state} for a long time`,
}

const shortened = (error: string): string =>
  error.length > MAX_ERROR_LENGTH ? `${error.slice(0, MAX_ERROR_LENGTH)} …` : error

function ProblemItem({ problem }: { problem: MachineProblem }) {
  const { kind, state, error, rows: alike, faults: active, advice } = problem
  const verb = advice.verb === null ? null : verbOf(advice.verb)
  const lift = () =>
    runWithNotice(
      async () => {
        for (const { id } of active) await makeLabClient().liftFault(id)
        await readFaults()
      },
      `Lifted ${active.map(({ id }) => id).join(', ')}.`,
    )
  const again = async () => {
    const outcome = await askAll(verb!, alike, callIronic)
    showNotice(outcomeText(verb!, outcome), outcome.refused.size > 0)
  }
  return (
    <li class={`problem ${kind}`}>
      <p class="problem-title">
        <Mark look={alike[0]!.look} /> <strong>{alike.length}</strong> {TITLES[kind](state)}
      </p>
      {error !== '' && <p class="problem-error">{shortened(error)}</p>}
      <p>
        {advice.why} <strong>{advice.remedy}</strong>
      </p>
      <p class="names">
        {alike.slice(0, MAX_PROBLEM_NAMES).map(({ id, name, isNode }) => (
          <a key={id} href={formatRoute({ view: isNode ? 'nodes' : 'machines', ident: name })}>
            {name}
          </a>
        ))}
        {alike.length > MAX_PROBLEM_NAMES && <span class="quiet">{alike.length - MAX_PROBLEM_NAMES} more</span>}
      </p>
      <p class="actions">
        {active.length > 0 && (
          <button onClick={() => void lift()}>
            Lift {active.length === 1 ? active[0]!.id : `${active.length} faults`}
          </button>
        )}
        {verb && (
          <button onClick={() => void again()}>
            {verb.title}
            {alike.length > 1 ? `: all ${alike.length}` : ''}
          </button>
        )}
        <button onClick={() => selectMachines(alike.map(({ id }) => id))}>Select</button>
      </p>
    </li>
  )
}
