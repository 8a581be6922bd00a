import { countText, elapsedText, sizeText, wrapWords } from '../../../base/runtime/index.js'
import type { TableRow } from '../pipeline/run-events.js'
import { consoleLines, failureLines } from './host-failure.js'
import type { HostRunReport, RunReport, MethodReport } from './run-report.js'

const REPORT_WIDTH = 80

/** The table that is shown before anything is written: what is there, and what would be destroyed. */
export function tableLines(rows: readonly TableRow[]): string[] {
  return rows.flatMap((row) => {
    const { host, ok, refused, product, systemSerial, bmcSerial, diskPath, diskModel, diskSerial, diskWwn } = row
    const machine = [product, labelValue('serial', systemSerial), labelValue('BMC', bmcSerial)]
      .filter(Boolean)
      .join(', ')
    const size = row.diskSize === null ? '' : sizeText(row.diskSize)
    const disk = [diskPath, diskModel, diskSerial ?? diskWwn, size].filter(Boolean).join(', ')
    const contents = row.contents?.length === 0 ? 'empty' : (row.contents?.join(', ') ?? 'not looked into')
    return [
      cut(`${ok ? '✓' : '✗'} ${host.padEnd(14)} ${machine || 'nothing is known of it'}`),
      ...(disk === '' ? [] : [cut(`  ${''.padEnd(14)} ${disk}: ${contents}`)]),
      ...(refused === null ? [] : wrapDetails(refused).map((line) => `  ${''.padEnd(14)} ${line}`)),
    ]
  })
}

const labelValue = (what: string, value: string | null): string => (value === null ? '' : `${what} ${value}`)

/** The report as a person reads it, in 80 columns. */
export function runReportLines(report: RunReport): string[] {
  const { hosts, changes } = report
  const width = Math.max(4, ...hosts.map(({ host }) => Math.min(host.length, 24)))
  const count = (outcome: HostRunReport['outcome']) => hosts.filter((host) => host.outcome === outcome).length
  const lines = hosts.flatMap((host) => {
    const at = host.stages.find(({ status }) => status === 'failed')
    const where = at ? ` in ${at.stage}` : ''
    const outcome = report.check_only && host.outcome === 'running' ? 'checked' : host.outcome
    return [
      cut(
        `${host.host.slice(0, 24).padEnd(width)}  ${`${outcome}${where}`.padEnd(22)} ${elapsedText(host.seconds * 1000).padStart(9)}`,
      ),
      ...[...failureLines(host), ...consoleLines(host)].flatMap((sentence) =>
        wrapDetails(sentence).map((line) => `  ${line}`),
      ),
    ]
  })
  return [
    '',
    ...lines,
    '',
    ...(changes.length === 0
      ? []
      : [
          `Compared with ${report.compared_with}:`,
          ...changes.flatMap(({ host, kind, text }) =>
            wrapDetails(`${host}: ${kind}: ${text}`).map((line) => `  ${line}`),
          ),
          '',
        ]),
    ...bothWaysText(report),
    `${countText(hosts.length, 'host')}: ${count('ok')} ok, ${count('failed')} failed, ${count('skipped')} not started; ${elapsedText(report.seconds * 1000)}`,
  ]
}

/** Both ways side by side, a line a host. */
function bothWaysText({ both_ways: both }: RunReport): string[] {
  if (!both) return []
  const width = Math.max(4, ...both.hosts.map(({ host }) => Math.min(host.length, 24)))
  const line = (host: string, direct: string, ironic: string) =>
    cut(`  ${host.slice(0, 24).padEnd(width)}  ${direct.padEnd(25)} ${ironic}`)
  return [
    `Both ways, this run and ${both.with}:`,
    line('', 'directly', 'through Ironic'),
    ...both.hosts.map(({ host, direct, ironic }) => line(host, methodText(direct), methodText(ironic))),
    '',
  ]
}

export const methodText = ({ outcome, seconds, failed_in: stage }: MethodReport): string =>
  outcome === 'skipped'
    ? 'not started'
    : `${stage === null ? outcome : `failed in ${stage}`}, ${elapsedText(seconds * 1000)}`

const cut = (line: string): string =>
  (line.length > REPORT_WIDTH ? `${line.slice(0, REPORT_WIDTH - 1)}…` : line).trimEnd()

const wrapDetails = (text: string): string[] => wrapWords(text.trim().split(/\s+/), REPORT_WIDTH - 18)
