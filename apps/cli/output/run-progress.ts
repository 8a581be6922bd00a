import {
  runReportLines,
  tableLines,
  timeLeft,
  type ExpectedTimes,
  type RunEvent,
  type RunReport,
} from '../../hardware-lab/index.js'
import type { Clock } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import type { Printer } from './printer.js'

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
  const { stdout } = environment
  if (json)
    return {
      show: (event) => stdout.json({ ...event, elapsed: Math.round(clock.elapsed()) / 1000 }),
      end: () => {},
      report: (report) => stdout.json({ event: 'report', ...report }),
    }
  if (!stdout.isTTY)
    return {
      show: (event) => stdout.lines(linesOf(event)),
      end: () => {},
      report: (report) => stdout.lines(runReportLines(report)),
    }
  return new LiveView(stdout, times, clock)
}

/** Lines of an event, for logs. */
function linesOf(event: RunEvent): string[] {
  switch (event.event) {
    case 'run':
      return [
        `run ${event.id}${event.resumed ? ' goes on' : ''}: ${event.hosts.length} hosts, state in ${event.state_dir}`,
      ]
    case 'dashboard':
      return [`the dashboard is at ${event.url}`]
    case 'table':
      return tableLines(event.rows)
    case 'host':
      return [`${event.host}: ${event.outcome}${event.why === null ? '' : `: ${event.why}`}`]
    case 'stage':
      if (event.status === 'started') return []
      if (event.status !== 'failed')
        return [`${event.host}: ${event.stage} ${event.status}, ${event.seconds.toFixed(1)} s`]
      return [
        `${event.host}: ${event.stage} ${event.again ? 'is tried again' : 'failed'}: ${event.failure.sentences.join(': ')}`,
      ]
    case 'console':
      return [`${event.host}: console, ${event.kind}: ${event.line}`]
    case 'progress':
      return []
  }
}

interface ProgressLine {
  stage: string
  since: number
  detail: string
  percent: number | null
  outcome: string | null
}

/** A line a host, each rewritten in place. */
class LiveView implements RunView {
  readonly #lines = new Map<string, ProgressLine>()
  readonly #ticking = new AbortController()
  #drawn = 0

  constructor(
    private readonly stdout: Printer,
    private readonly times: ExpectedTimes,
    private readonly clock: Clock,
  ) {
    void this.#tick()
  }

  show = (event: RunEvent): void => {
    if (event.event === 'run') {
      this.stdout.lines(linesOf(event))
      for (const host of event.hosts)
        this.#lines.set(host, { stage: '', since: 0, detail: '', percent: null, outcome: null })
    } else if (event.event === 'dashboard') this.stdout.lines(linesOf(event))
    else if (event.event === 'table') {
      this.#erase()
      this.stdout.lines(tableLines(event.rows))
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
    this.stdout.lines(runReportLines(report))
  }

  async #tick(): Promise<void> {
    const { signal } = this.#ticking
    while (!signal.aborted) {
      await this.clock.sleep(500, { weak: true, signal }).catch(() => {})
      if (!signal.aborted) this.#draw()
    }
  }

  #erase(): void {
    this.#redraw([])
  }

  #draw(): void {
    this.#redraw(this.#fitting((this.stdout.rows ?? 24) - 1))
  }

  #redraw(lines: readonly string[]): void {
    this.stdout.replaceLines(this.#drawn, lines)
    this.#drawn = lines.length
  }

  /** Lines that have scrolled away cannot be rewritten. Where there is no room for all hosts, those under way are shown. */
  #fitting(rows: number): string[] {
    const all = [...this.#lines]
    const shown = ([host, line]: (typeof all)[number]) => this.#lineOf(host, line)
    if (all.length <= rows) return all.map(shown)
    const inWork = all.filter(([, { outcome, stage }]) => outcome === null && stage !== '')
    const first = inWork.slice(0, Math.max(1, rows - 1))
    const count = (holds: (line: ProgressLine) => boolean) => all.filter(([, line]) => holds(line)).length
    const others = [
      `${count(({ outcome }) => outcome === 'ok')} ok`,
      `${count(({ outcome }) => outcome !== null && outcome !== 'ok')} not`,
      `${count(({ outcome, stage }) => outcome === null && stage === '')} waiting`,
      ...(inWork.length > first.length ? [`${inWork.length - first.length} more under way`] : []),
    ]
    return [...first.map(shown), `  of ${all.length} hosts: ${others.join(', ')}`]
  }

  #lineOf(host: string, { stage, since, detail, percent, outcome }: ProgressLine): string {
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
