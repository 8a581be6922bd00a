import { useEffect, useState } from 'preact/hooks'
import { repeatEvery } from '../browser.js'
import { connectionState } from '../state/page-connection.js'
import { clock, isFleet, isRun, labTime } from '../state/lab-state.js'
import { VIEWS, type View } from '../views/views.js'
import { clockText, dateText } from './clock-texts.js'
import { shownDialog } from './page-keys.js'
import { currentRoute } from './navigation.js'
import { nextTheme, theme } from './theme.js'

export function TopBar() {
  const { view } = currentRoute.value
  return (
    <header class="top">
      <a class="brand" href={isRun.value ? '#/run' : '#/fleet'}>
        ironstage
      </a>
      <nav aria-label="Pages">
        {VIEWS.map((one) =>
          one.title === null || !isReached(one) ? null : (
            <a
              key={one.view}
              href={`#/${one.view}`}
              aria-current={
                one.view === view || one.view === VIEWS.find((each) => each.view === view)?.below ? 'page' : undefined
              }
            >
              {one.title}
            </a>
          ),
        )}
      </nav>
      <span class="space" />
      <LabTime />
      <span class={`link ${connectionState.value.kind}`}>{LINK_WORDS[connectionState.value.kind]}</span>
      <button onClick={() => void (shownDialog.value = 'palette')} title="Find a node, a page or a command (Ctrl+K)">
        Find <kbd>Ctrl K</kbd>
      </button>
      <button
        class="icon views"
        aria-label="Saved views"
        title="Saved views; save this one (v)"
        onClick={() => void (shownDialog.value = 'views')}
      >
        ☆
      </button>
      <button
        class="icon"
        aria-label={`Colours: ${theme.value}`}
        title={`Colours: ${theme.value} (t)`}
        onClick={nextTheme}
      >
        ◐
      </button>
      <button class="icon" aria-label="Keys" title="Keys (?)" onClick={() => void (shownDialog.value = 'help')}>
        ?
      </button>
    </header>
  )
}

/** Real hosts of a run have no machines here, and no exchanges. */
const isReached = ({ ofRun }: View): boolean => (isRun.value ? ofRun === true || isFleet.value : ofRun !== true)

const LINK_WORDS = { connecting: 'connecting', live: 'live', lost: 'lost', login: '' } as const

/** Lab time as it passes. */
function LabTime() {
  const [, tick] = useState(0)
  const report = clock.value
  useEffect(() => repeatEvery(500, () => tick((count) => count + 1)), [])
  if (!report) return null
  const time = labTime(report)
  const words = report.mode === 'manual' ? 'paused' : report.mode
  return (
    <a class="lab-time" href="#/faults" title={`Lab time ${dateText(time)} UTC, clock ${report.mode}`}>
      <span class="quiet">lab</span> {clockText(time)} <span class={`mode ${report.mode}`}>{words}</span>
    </a>
  )
}
