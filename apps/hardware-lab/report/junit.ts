import { escapeHtml as xml } from '../../../report/index.js'
import type { HostRunReport, RunReport, StageReport } from './run-report.js'
import { chainOf } from './text.js'

/** The report as JUnit XML: a suite a host, a case a stage. */
export function junitXml(report: RunReport): string {
  const suites = report.hosts.map((host) => suite(host))
  const all = report.hosts.flatMap(cases)
  const counts = `tests="${all.length}" failures="${all.filter((each) => each.failed).length}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="ironstage run ${xml(report.id)}" ${counts} time="${report.seconds}">`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n')
}

interface Case {
  stage: string
  seconds: number
  failed: boolean
  skipped: boolean
  lines: string[]
  code: string
}

function cases(host: HostRunReport): Case[] {
  const made = host.stages.map((each: StageReport): Case => {
    const failed = each.status === 'failed'
    return {
      stage: each.stage,
      seconds: each.seconds,
      failed,
      skipped: each.status === 'skipped',
      lines: failed ? [...chainOf(host), ...host.console.map(({ kind, line }) => `console, ${kind}: ${line}`)] : [],
      code: each.failure?.code ?? '',
    }
  })
  if (host.outcome !== 'skipped') return made
  return [...made, { stage: 'begin', seconds: 0, failed: false, skipped: true, lines: [host.why ?? ''], code: '' }]
}

function suite(host: HostRunReport): string {
  const all = cases(host)
  const failures = all.filter(({ failed }) => failed).length
  const skipped = all.filter((each) => each.skipped).length
  return [
    `  <testsuite name="${xml(host.host)}" tests="${all.length}" failures="${failures}" errors="0" skipped="${skipped}" time="${host.seconds}">`,
    ...all.map(({ stage, seconds, failed, skipped: isSkipped, lines, code }) => {
      const open = `    <testcase classname="${xml(host.host)}" name="${xml(stage)}" time="${seconds}"`
      if (failed)
        return `${open}>\n      <failure type="${xml(code)}" message="${xml(lines[0] ?? '')}">${xml(lines.join('\n'))}</failure>\n    </testcase>`
      if (isSkipped) return `${open}><skipped message="${xml(lines[0] ?? 'not needed')}"/></testcase>`
      return `${open}/>`
    }),
    '  </testsuite>',
  ].join('\n')
}
