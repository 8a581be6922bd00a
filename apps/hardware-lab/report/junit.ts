import { escapeHtml as xml } from '../../../report/index.js'
import { stageNames } from '../pipeline/stages.js'
import type { HostRunReport, RunReport } from './run-report.js'
import { consoleLines, failureOf, failureLines } from './host-failure.js'

/** The report as JUnit XML: a suite a host, a case a stage. Stages that were not reached are skipped. */
export function junitXml(report: RunReport): string {
  const suites = report.hosts.map((host) => ({ host, cases: casesOf(host, report) }))
  const all = suites.flatMap(({ cases }) => cases)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="ironstage run ${xml(report.id)}" ${countsOf(all)} time="${report.seconds}">`,
    ...suites.flatMap(({ host, cases }) => suiteLines(host, cases)),
    '</testsuites>',
    '',
  ].join('\n')
}

interface StageCase {
  stage: string
  seconds: number
  failure?: { code: string; cause: string; lines: readonly string[] }
  /** Reason why the stage did not run, or did not end. */
  skipped?: string
}

function casesOf(host: HostRunReport, report: RunReport): StageCase[] {
  const expected: string[] = stageNames({ throughIronic: report.through_ironic !== null, isCheck: report.check_only })
  const failure = failureOf(host)
  const unreached = whyUnreached(host, failure?.stage)
  const stages = [...new Set([...expected, ...host.stages.map(({ stage }) => stage)])]
  return stages.map((stage): StageCase => {
    const found = host.stages.find((each) => each.stage === stage)
    if (!found) return { stage, seconds: 0, skipped: unreached }
    const { seconds, status } = found
    if (status === 'skipped') return { stage, seconds, skipped: 'not needed' }
    if (status === 'started') return { stage, seconds, skipped: 'the run was stopped in this stage' }
    if (failure?.stage !== stage) return { stage, seconds }
    const lines = [...failureLines(host), ...consoleLines(host)]
    return { stage, seconds, failure: { code: failure.code, cause: failure.cause, lines } }
  })
}

function whyUnreached({ outcome, why }: HostRunReport, failed: string | undefined): string {
  if (failed !== undefined) return `not reached: the stage ${failed} failed`
  if (outcome === 'ok') return 'not needed'
  return outcome === 'skipped' && why !== null ? why : 'the run was stopped before this stage'
}

function countsOf(cases: readonly StageCase[]): string {
  const failures = cases.filter(({ failure }) => failure !== undefined).length
  const skipped = cases.filter((each) => each.skipped !== undefined).length
  return `tests="${cases.length}" failures="${failures}" errors="0" skipped="${skipped}"`
}

function suiteLines({ host, seconds }: HostRunReport, cases: readonly StageCase[]): string[] {
  return [
    `  <testsuite name="${xml(host)}" ${countsOf(cases)} time="${seconds}">`,
    ...cases.flatMap((each) => caseLines(host, each)),
    '  </testsuite>',
  ]
}

function caseLines(host: string, { stage, seconds, failure, skipped }: StageCase): string[] {
  const open = `    <testcase classname="${xml(host)}" name="${xml(stage)}" time="${seconds}"`
  if (skipped !== undefined) return [`${open}><skipped message="${xml(skipped)}"/></testcase>`]
  if (!failure) return [`${open}/>`]
  const { code, cause, lines } = failure
  return [
    `${open}>`,
    `      <failure type="${xml(code)}" message="${xml(cause)}">${xml(lines.join('\n'))}</failure>`,
    '    </testcase>',
  ]
}
