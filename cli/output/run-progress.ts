import {
  runReportText,
  tableText,
  timeLeft,
  type ExpectedTimes,
  type RunEvent,
  type RunReport,
} from '../../hardware-lab/index.js'
import { visibleLine, visibleText, type Clock } from '../../runtime/index.js'
import type { Environment } from '../environment.js'

/** Shows a run over many hosts. */
export interface RunView {
  show(event: RunEvent): void
  /** The run has ended, or was stopped. */
  end(): void
  report(report: RunReport): void
}

export function runView(
  environment: Environment,
  { json, times, clock }: { json: boolean; times: ExpectedTimes; clock: Clock },
): RunView {
  const write = (text: string) => void environment.stdout.write(text)
  if (json)
    return {
      show: (event) => write(`${JSON.stringify({ ...event, elapsed: Math.round(clock.elapsed()) / 1000 })}\n`),
      end: () => {},
      report: (report) => write(`${JSON.stringify({ event: 'report', ...report })}\n`),
    }
  if (!environment.stdout.isTTY)
    return {
      show: (event) => write(visibleText(lineOf(event))),
      end: () => {},
      report: (report) => write(runReportText(report)),
    }
  const { stdout } = environment
  const size = () => ({ columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 })
  return new LiveView(write, size, times, clock)
}

/** A line an event, for logs. */
function lineOf(event: RunEvent): string {
  switch (event.event) {
    case 'run':
      return `run ${event.id}${event.resumed ? ' goes on' : ''}: ${event.hosts.length} hosts, state in ${event.state_dir}\n`
    case 'dashboard':
      return `the dashboard is at ${event.url}\n`
    case 'table':
      return tableText(event.rows)
    case 'host':
      return `${event.host}: ${event.outcome}${event.why === null ? '' : `: ${event.why}`}\n`
    case 'stage':
      if (event.status === 'started') return ''
      if (event.status !== 'failed')
        return `${event.host}: ${event.stage} ${event.status}, ${event.seconds.toFixed(1)} s\n`
      return `${event.host}: ${event.stage} ${event.again ? 'is tried again' : 'failed'}: ${event.failure.sentences.join(': ')}\n`
    case 'console':
      return `${event.host}: console, ${event.kind}: ${event.line}\n`
    case 'progress':
      return ''
  }
}

interface Line {
  stage: string
  since: number
  detail: string
  percent: number | null
  outcome: string | null
}

/** A line a host, each rewritten in place. */
class LiveView implements RunView {
  readonly #lines = new Map<string, Line>()
  readonly #ticking = new AbortController()
  #drawn = 0

  constructor(
    private readonly write: (text: string) => void,
    private readonly size: () => { columns: number; rows: number },
    private readonly times: ExpectedTimes,
    private readonly clock: Clock,
  ) {
    void this.#tick()
  }

  show = (event: RunEvent): void => {
    if (event.event === 'run') {
      this.write(lineOf(event))
      for (const host of event.hosts)
        this.#lines.set(host, { stage: '', since: 0, detail: '', percent: null, outcome: null })
    } else if (event.event === 'dashboard') this.write(lineOf(event))
    else if (event.event === 'table') {
      this.#erase()
      this.write(tableText(event.rows))
    } else {
      const line = this.#lines.get(event.host)
      if (!line) return
      if (event.event === 'host') {
        line.outcome = event.outcome
        line.detail = event.why ?? ''
      } else if (event.event === 'console') line.detail = `${event.kind}: ${event.line}`
      else if (event.event === 'progress') {
        if (event.percent !== undefined) line.percent = event.percent
        else line.detail = event.text ?? line.detail
      } else if (event.status === 'started')
        Object.assign(line, { stage: event.stage, since: this.clock.elapsed(), detail: '', percent: null })
      else if (event.status === 'failed') line.detail = event.failure.sentences[0] ?? ''
    }
    this.#draw()
  }

  end(): void {
    if (this.#ticking.signal.aborted) return
    this.#ticking.abort()
    this.#draw()
    this.#drawn = 0
  }

  report(report: RunReport): void {
    this.write(runReportText(report))
  }

  async #tick(): Promise<void> {
    const { signal } = this.#ticking
    while (!signal.aborted) {
      await this.clock.sleep(500, { weak: true, signal }).catch(() => {})
      if (!signal.aborted) this.#draw()
    }
  }

  #erase(): void {
    if (this.#drawn > 0) this.write(`\x1b[${this.#drawn}A\x1b[J`)
    this.#drawn = 0
  }

  #draw(): void {
    this.#erase()
    const { columns, rows } = this.size()
    const lines = this.#fitting(rows - 1).map((line) => visibleLine(line).slice(0, Math.max(20, columns - 1)))
    this.write(lines.map((line) => `${line}\n`).join(''))
    this.#drawn = lines.length
  }

  /** Lines that have scrolled away cannot be rewritten. Where there is no room for all hosts, those under way are shown. */
  #fitting(rows: number): string[] {
    const all = [...this.#lines]
    const shown = ([host, line]: (typeof all)[number]) => this.#lineOf(host, line)
    if (all.length <= rows) return all.map(shown)
    const inWork = all.filter(([, { outcome, stage }]) => outcome === null && stage !== '')
    const first = inWork.slice(0, Math.max(1, rows - 1))
    const count = (holds: (line: Line) => boolean) => all.filter(([, line]) => holds(line)).length
    const others = [
      `${count(({ outcome }) => outcome === 'ok')} ok`,
      `${count(({ outcome }) => outcome !== null && outcome !== 'ok')} not`,
      `${count(({ outcome, stage }) => outcome === null && stage === '')} waiting`,
      ...(inWork.length > first.length ? [`${inWork.length - first.length} more under way`] : []),
    ]
    return [...first.map(shown), `  of ${all.length} hosts: ${others.join(', ')}`]
  }

  #lineOf(host: string, { stage, since, detail, percent, outcome }: Line): string {
    if (outcome !== null) return `${outcome === 'ok' ? '✓' : '✗'} ${host.padEnd(16)} ${outcome.padEnd(12)} ${detail}`
    if (stage === '') return `  ${host.padEnd(16)} waiting`
    const spent = (this.clock.elapsed() - since) / 1000
    const left = timeLeft(this.times, host, stage as Parameters<ExpectedTimes>[1], spent)
    const shown = [percent === null ? '' : `${percent} %`, left === null ? '' : `${Math.ceil(left)} s left`].filter(
      Boolean,
    )
    return `… ${host.padEnd(16)} ${stage.padEnd(12)} ${`${Math.floor(spent)} s`.padStart(6)}  ${[...shown, detail].join('  ')}`
  }
}
