import type { RunHost, RunProgress } from '../../../control/index.js'
import { lengthText } from '../parts/clock-texts.js'
import { useKeys } from '../parts/page-keys.js'
import { usePolled } from '../parts/polled.js'
import { Mark } from '../parts/shapes.js'
import { wallTime } from '../browser.js'
import { isFleet } from '../state/lab-state.js'
import { formatRoute } from '../state/page-route.js'
import { failedFirst, OUTCOME_LOOKS, stagesOf, summarizeRun, type ShownStage } from '../state/run-progress-state.js'

/** Milliseconds between two looks at a run. */
const RUN_POLL_INTERVAL = 500

/** The hosts of `ironstage run`: how far each is, and why one failed. */
export function RunView() {
  const { value: run, problem } = usePolled((client) => client.run(), RUN_POLL_INTERVAL)
  useKeys(() => [focusBinding('j', 'next host; k: previous host', 1), focusBinding('k', 'previous host', -1)], [])
  if (!run) return <p class="empty">{problem ?? 'Asking the run …'}</p>
  const kind = run.isCheck ? 'Check' : run.isRehearsal ? 'Rehearsal' : 'Run'
  return (
    <>
      <h1>
        {kind} {run.id}
      </h1>
      <p role="status">
        {summarizeRun(run)}
        {run.report !== null && (
          <>
            {' '}
            Its report is <span class="mono">{run.report}</span>.
          </>
        )}
      </p>
      <ul class="run-hosts" aria-label="Hosts">
        {failedFirst(run.hosts).map((host) => (
          <Host key={host.host} run={run} host={host} />
        ))}
      </ul>
    </>
  )
}

const focusBinding = (key: string, does: string, by: number) => ({
  key,
  does,
  act: () => {
    const hosts = [...document.querySelectorAll<HTMLElement>('.run-hosts > li')]
    const at = hosts.findIndex((host) => host.contains(document.activeElement))
    hosts[Math.min(hosts.length - 1, Math.max(0, at + by))]?.focus()
  },
})

function Host({ run, host }: { run: RunProgress; host: RunHost }) {
  const { host: name, outcome, since, detail, why, remedy } = host
  return (
    <li class={`panel run-host ${outcome}`} tabIndex={-1} aria-label={name}>
      <h2>
        <Mark look={OUTCOME_LOOKS[outcome]} />{' '}
        {isFleet.value ? <a href={formatRoute({ view: 'machines', ident: name })}>{name}</a> : name}{' '}
        <span class="quiet">{outcome === 'ok' ? 'done' : outcome}</span>
      </h2>
      <ol class="run-stages" aria-label="Stages">
        {stagesOf(run, host).map((one) => (
          <Stage key={one.stage} {...one} />
        ))}
      </ol>
      {outcome === 'running' && since !== null && (
        <p class="quiet run-detail">
          for {lengthText(wallTime() - Date.parse(since))}
          {detail !== '' && <>: {detail}</>}
        </p>
      )}
      {why.map((sentence, index) => (
        <p key={index} class={index === 0 && outcome === 'failed' ? 'error-text' : 'quiet'}>
          {index > 0 && 'because: '}
          {sentence}
        </p>
      ))}
      {remedy !== null && (
        <p>
          Try: <strong>{remedy}</strong>
        </p>
      )}
    </li>
  )
}

const SIGNS: Readonly<Record<ShownStage['status'], string>> = {
  done: '✓',
  failed: '✗',
  started: '▸',
  skipped: '–',
  'to come': '·',
}

const STATUS_WORDS: Readonly<Record<ShownStage['status'], string>> = {
  done: 'done',
  failed: 'failed',
  started: 'running',
  skipped: 'not needed',
  'to come': 'to come',
}

function Stage({ stage, status, note }: ShownStage) {
  return (
    <li class={`run-stage ${status.replace(' ', '-')}`}>
      <span aria-hidden="true">{SIGNS[status]}</span> {stage} <span class="hidden">{STATUS_WORDS[status]}</span>
      {note !== '' && <span class="quiet"> {note}</span>}
    </li>
  )
}
