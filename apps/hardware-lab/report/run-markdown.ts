import { countText, elapsedText } from '../../../base/runtime/index.js'
import { consoleLines, failureLines, failureOf, outcomeText } from './host-failure.js'
import type { HostRunReport, RunReport } from './run-report.js'

/** The report as Markdown, for the summary of a job or a comment: a table of hosts, and what failed. */
export function runMarkdown(report: RunReport): string {
  const { hosts, changes } = report
  const well = hosts.filter(({ outcome }) => outcome === 'ok').length
  const failed = hosts.filter(({ outcome }) => outcome === 'failed')
  const title = `${report.rehearsed ? 'Rehearsal' : 'Run'} ${report.id}: ${well} of ${countText(hosts.length, 'host')} ok`
  return [
    `## ${inline(title)}`,
    '',
    `${inline(report.file)}, ${report.started_at}, ${elapsedText(report.seconds * 1000)}`,
    '',
    '| Host | Outcome | Time | Cause |',
    '|---|---|--:|---|',
    ...hosts.map(hostRow),
    ...failed.flatMap(failureSection),
    ...(changes.length === 0 ? [] : ['', `### Compared with ${inline(report.compared_with ?? '')}`, '']),
    ...changes.map(({ host, kind, text }) => `- ${inline(host)}: ${kind}: ${inline(text)}`),
    '',
  ].join('\n')
}

function hostRow(host: HostRunReport): string {
  const cause = failureOf(host)?.cause ?? host.why ?? ''
  return `| ${inline(host.host)} | ${outcomeText(host)} | ${elapsedText(host.seconds * 1000)} | ${inline(cause)} |`
}

/** Text of machines stands in an indented block, in which Markdown and HTML have no meaning. */
const failureSection = (host: HostRunReport): string[] => [
  '',
  `### ${inline(host.host)}: ${outcomeText(host)}`,
  '',
  ...[...failureLines(host), ...consoleLines(host)].map((line) => `    ${oneLine(line)}`),
]

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Text within a line of Markdown: what would be markup, a link, a mention or a cell is text. */
const inline = (text: string): string =>
  oneLine(text).replace(/[\\`*_{}[\]<>()#|~!@&]/g, (sign) => `&#${sign.charCodeAt(0)};`)
