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
  type Html,
  type Tone,
} from '../../../report/index.js'
import type { HostRunReport, RunReport } from './run-report.js'
import { chainOf, methodText } from './text.js'

/** The report as one HTML file that needs nothing else: a timeline a host, failures with their causes, consoles. */
export function reportHtml(report: RunReport, consoles: Readonly<Record<string, string>> = {}): string {
  const began = Date.parse(report.started_at)
  const length = Math.max(report.seconds, 0.001)
  const well = report.hosts.filter(({ outcome }) => outcome === 'ok').length
  const title = `Run ${report.id}${report.rehearsed ? ' (rehearsal)' : ''}`
  const changes = report.changes.map(({ host, kind, text }) => markup`<li><b>${host}</b>: ${kind}: ${text}</li>`)
  const both = report.both_ways
  const body = markup`<h1>${title} ${htmlBadge(`${well} of ${report.hosts.length} well`, report.ok ? 'good' : 'bad')}</h1>
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
${report.hosts.map((host) => hostHtml(host, began, length, consoles[host.host] ?? ''))}`
  return htmlPage({ title, body })
}

const OUTCOMES: Readonly<Record<HostRunReport['outcome'], Tone>> = {
  ok: 'good',
  failed: 'bad',
  skipped: 'rest',
  waiting: 'rest',
  running: 'work',
}

function hostHtml(host: HostRunReport, began: number, length: number, console: string): Html {
  const { facts, outcome, stages } = host
  const bars = stages
    .filter(({ seconds, status }) => seconds > 0 || status === 'failed')
    .map(({ stage, status, seconds, startedAt }) => ({
      from: startedAt - began,
      to: startedAt - began + seconds * 1000,
      tone: status === 'failed' ? ('bad' as const) : stage === 'steps' ? ('good' as const) : ('work' as const),
      title: `${stage}: ${status}, ${elapsedText(seconds * 1000)}`,
    }))
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
  return markup`<section class="card ${OUTCOMES[outcome]}">
<h3>${host.host} ${htmlBadge(outcome, OUTCOMES[outcome])} <small>${elapsedText(host.seconds * 1000)}</small></h3>
<p>${[machine, disk.filter(Boolean).join(', ')].filter((text) => text !== '').join('; ')}</p>
${timeChart([{ label: 'Stages', bars }], { from: 0, to: length * 1000, axis: ['0 s', elapsedText(length * 1000)] })}
${causeList([...chainOf(host), ...host.console.map(({ kind, line }) => markup`console, ${kind}: <code>${line}</code>`)], null)}
${checks.length > 0 && checkTable(checks)}
${htmlTable(
  [{ title: 'Stage' }, { title: 'Status' }, { title: 'Attempts', kind: 'number' }, { title: 'Took', kind: 'number' }],
  stages.map((each) => [each.stage, each.status, each.attempts, elapsedText(each.seconds * 1000)]),
)}
${foldText('Console', console)}
</section>`
}
