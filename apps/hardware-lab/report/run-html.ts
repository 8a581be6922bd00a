import { elapsedText, sizeText } from '../../../base/runtime/index.js'
import {
  htmlBadge,
  causeList,
  checkTable,
  foldText,
  markup,
  htmlPage,
  htmlTable,
  timeChart,
  type Bar,
  type Html,
  type Tone,
} from '../../../report/index.js'
import type { HostRunReport, RunReport } from './run-report.js'
import { failureOf, outcomeText } from './host-failure.js'
import { methodText } from './text.js'

/** The report as one HTML file that needs nothing else: a timeline a host, failures with their causes, consoles. */
export function reportHtml(report: RunReport, consoles: Readonly<Record<string, string>> = {}): string {
  const began = Date.parse(report.started_at)
  const length = Math.max(report.seconds * 1000, 1)
  const well = report.hosts.filter(({ outcome }) => outcome === 'ok').length
  const title = `Run ${report.id}${report.rehearsed ? ' (rehearsal)' : ''}`
  const changes = report.changes.map(({ host, kind, text }) => markup`<li><b>${host}</b>: ${kind}: ${text}</li>`)
  const both = report.both_ways
  const hosts = failedFirst(report.hosts)
  const body = markup`<h1>${title} ${htmlBadge(`${well} of ${report.hosts.length} ok`, report.ok ? 'good' : 'bad')}</h1>
<p class="soft">${report.file}, ${report.started_at}, ${elapsedText(report.seconds * 1000)}${report.through_ironic && `, through the Ironic at ${report.through_ironic}`}</p>
${changes.length > 0 && markup`<h2>Compared with ${report.compared_with}</h2><ul>${changes}</ul>`}
${
  both &&
  markup`<h2>Both ways</h2>${htmlTable(
    [{ title: 'Host' }, { title: 'Directly' }, { title: 'Through Ironic' }],
    both.hosts.map(({ host, direct, ironic }) => [host, methodText(direct), methodText(ironic)]),
  )}<p class="soft">this run and ${both.with}</p>`
}
<h2>Hosts</h2>
${hostTable(hosts)}
<ul class="legend">${LEGEND.map(({ tone, text }) => markup`<li class="${tone}"><i></i>${text}</li>`)}</ul>
${hosts.map((host) => hostHtml(host, began, length, consoles[host.host] ?? ''))}`
  return htmlPage({ title, body })
}

const OUTCOMES: Readonly<Record<HostRunReport['outcome'], Tone>> = {
  ok: 'good',
  failed: 'bad',
  skipped: 'rest',
  waiting: 'rest',
  running: 'work',
}

/** Hosts that failed first, and those that were not begun last; otherwise in the order of the file. */
function failedFirst(hosts: readonly HostRunReport[]): HostRunReport[] {
  const order: readonly HostRunReport['outcome'][] = ['failed', 'running', 'waiting', 'ok', 'skipped']
  return hosts.toSorted((one, other) => order.indexOf(one.outcome) - order.indexOf(other.outcome))
}

const hostTable = (hosts: readonly HostRunReport[]): Html =>
  htmlTable(
    [{ title: 'Host' }, { title: 'Outcome' }, { title: 'Cause', kind: 'wide' }, { title: 'Took', kind: 'number' }],
    hosts.map((host) => [
      markup`<a href="#${anchorOf(host)}">${host.host}</a>`,
      htmlBadge(outcomeText(host), OUTCOMES[host.outcome]),
      failureOf(host)?.cause ?? host.why ?? '',
      elapsedText(host.seconds * 1000),
    ]),
  )

const anchorOf = ({ host }: HostRunReport): string => `host-${host}`

/** Colours of the stages' bars. */
const LEGEND = [
  { tone: 'work', text: 'a stage' },
  { tone: 'good', text: 'the steps, which write the disk' },
  { tone: 'bad', text: 'a failed stage' },
  { tone: 'rest', text: 'no stage: waiting, or ended' },
] as const satisfies readonly { tone: Tone; text: string }[]

/** A share of the whole time below which a gap between stages is too thin to be drawn. */
const MIN_GAP = 0.005

/** Bars of the stages, and of the time between them. Milliseconds since the run began. */
function stageBars({ stages, outcome }: HostRunReport, began: number, length: number): Bar[] {
  const ran = stages.filter(({ seconds, status }) => seconds > 0 || status === 'failed')
  const bars: Bar[] = []
  let at = 0
  const fillGap = (to: number, title: string): void => {
    if (to - at > length * MIN_GAP)
      bars.push({ from: at, to, tone: 'rest', title: `${title}, ${elapsedText(to - at)}` })
  }
  for (const { stage, status, seconds, startedAt } of ran) {
    const from = startedAt - began
    fillGap(from, at === 0 ? 'waiting for its turn' : 'waiting for the next stage')
    at = from + seconds * 1000
    const tone = status === 'failed' ? 'bad' : stage === 'steps' || stage === 'deploy' ? 'good' : 'work'
    bars.push({ from, to: at, tone, title: `${stage}: ${status}, ${elapsedText(seconds * 1000)}` })
  }
  fillGap(length, ran.length === 0 ? 'not started' : outcome === 'running' ? 'stopped' : 'ended')
  return bars
}

function hostHtml(host: HostRunReport, began: number, length: number, console: string): Html {
  const { facts, outcome, stages } = host
  const bars = stageBars(host, began, length)
  const failure = failureOf(host)
  const reasons = failure?.sentences ?? (outcome === 'skipped' && host.why !== null ? [host.why] : [])
  const disk = [
    facts.diskPath,
    facts.diskModel,
    facts.diskSerial ?? facts.diskWwn,
    facts.diskSize === null ? null : sizeText(facts.diskSize),
  ]
  const machine = [facts.product, facts.systemSerial, facts.bmcSerial].filter(Boolean).join(', ')
  const checks = [
    ...host.checks.map(({ what, ok, found }) => ({ what, ok, found })),
    ...host.post_checks.map(({ command, ok, found }) => ({ what: command, ok, found })),
  ]
  return markup`<section class="card ${OUTCOMES[outcome]}" id="${anchorOf(host)}">
<h3>${host.host} ${htmlBadge(outcome, OUTCOMES[outcome])} <small>${elapsedText(host.seconds * 1000)}</small></h3>
<p>${[machine, disk.filter(Boolean).join(', ')].filter((text) => text !== '').join('; ')}</p>
${timeChart([{ label: 'Stages', bars }], { from: 0, to: length, axis: ['0 s', elapsedText(length)] })}
${causeList(reasons, failure?.remedy ?? null)}
${host.console.map(({ kind, line }) => markup`<p>console, ${kind}: <code>${line}</code></p>`)}
${checks.length > 0 && checkTable(checks)}
${htmlTable(
  [{ title: 'Stage' }, { title: 'Status' }, { title: 'Attempts', kind: 'number' }, { title: 'Took', kind: 'number' }],
  stages.map((each) => [each.stage, each.status, each.attempts, elapsedText(each.seconds * 1000)]),
)}
${foldText('Console', console)}
</section>`
}
