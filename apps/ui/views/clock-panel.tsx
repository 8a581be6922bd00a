import { useEffect, useState } from 'preact/hooks'
import { repeatEvery } from '../browser.js'
import { advanceClock, dateText, lengthText, setMode } from '../parts/clock-texts.js'
import { useKeys } from '../parts/page-keys.js'
import { runWithNotice } from '../parts/notices.js'
import { makeLabClient } from '../state/page-connection.js'
import { clock, isFleet, labTime, seeClock } from '../state/lab-state.js'

const SPEEDS = ['real', 'x10', 'x60', 'x600'] as const
const CLOCK_STEPS = ['10s', '1m', '10m', '1h'] as const

const jump = () => runWithNotice(async () => seeClock(await makeLabClient().advance({ next: true })))

/** Lab time: how it passes, and its way forward. */
export function ClockPanel() {
  const [, tick] = useState(0)
  const [by, setBy] = useState('31m')
  const report = clock.value
  useEffect(() => repeatEvery(500, () => tick((count) => count + 1)), [])
  useKeys(
    () => [
      {
        key: 'p',
        does: 'pause the clock, or let it run',
        act: () => void setMode(clock.peek()?.mode === 'manual' ? 'real' : 'manual'),
      },
      { key: 'n', does: 'jump to the next event', act: () => void jump() },
    ],
    [],
  )
  if (!report) return null
  const isPaused = report.mode === 'manual'
  return (
    <section class="panel" aria-label="Clock">
      <div class="clock">
        <p class="clock-time">
          {dateText(labTime(report))}{' '}
          <span class="quiet">UTC, lab time; {lengthText(report.elapsed)} since it began</span>
        </p>
        <div class="tools">
          <button
            aria-pressed={isPaused}
            disabled={isFleet.value}
            onClick={() => void setMode(isPaused ? 'real' : 'manual')}
          >
            {isPaused ? '▶ Run' : '❚❚ Pause'}
          </button>
          <div class="choice many" role="group" aria-label="Speed">
            {SPEEDS.map((mode) => (
              <button key={mode} aria-pressed={report.mode === mode} onClick={() => void setMode(mode)}>
                {mode === 'real' ? 'real time' : mode}
              </button>
            ))}
            <button
              aria-pressed={report.mode === 'auto'}
              disabled={isFleet.value}
              title="jumps over every wait as soon as nothing moves"
              onClick={() => void setMode('auto')}
            >
              auto
            </button>
          </div>
        </div>
        {!isFleet.value && (
          <div class="tools">
            <button onClick={() => void jump()}>Jump to the next event</button>
            <div class="choice many" role="group" aria-label="Advance">
              {CLOCK_STEPS.map((length) => (
                <button key={length} aria-label={`Advance by ${length}`} onClick={() => void advanceClock(length)}>
                  +{length}
                </button>
              ))}
            </div>
            <form
              class="tools"
              onSubmit={(event) => {
                event.preventDefault()
                void advanceClock(by)
              }}
            >
              <input
                aria-label="Length of lab time"
                class="short"
                value={by}
                onInput={({ currentTarget }) => setBy(currentTarget.value)}
              />
              <button>Advance</button>
            </form>
          </div>
        )}
      </div>
    </section>
  )
}
