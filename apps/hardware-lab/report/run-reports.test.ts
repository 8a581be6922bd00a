import { XMLParser } from 'fast-xml-parser'
import { expect, test } from 'vitest'
import { junitXml } from './junit.js'
import { githubAnnotations, gitlabCodeQuality } from './run-annotations.js'
import { reportHtml } from './run-html.js'
import { runMarkdown } from './run-markdown.js'
import type { HostRunReport, RunReport, StageReport } from './run-report.js'
import { runReportLines } from './text.js'

const BEGAN = Date.parse('2026-03-01T22:00:00Z')

const NO_FACTS = {
  bmcSerial: null,
  systemSerial: null,
  product: null,
  diskPath: null,
  diskModel: null,
  diskSerial: null,
  diskWwn: null,
  diskAtPlace: null,
  diskSize: null,
  contents: null,
}

const stage = (name: StageReport['stage'], at: number, more: Partial<StageReport> = {}): StageReport => ({
  stage: name,
  status: 'done',
  attempts: 1,
  startedAt: BEGAN + at * 1000,
  seconds: 10,
  failure: null,
  ...more,
})

const host = (name: string, more: Partial<HostRunReport>): HostRunReport => ({
  host: name,
  outcome: 'ok',
  why: null,
  seconds: 20,
  facts: NO_FACTS,
  stages: [stage('bmc', 0), stage('boot', 10)],
  checks: [],
  post_checks: [],
  console: [],
  ...more,
})

const FAILURE = {
  code: 'command-failed',
  sentences: ['the step install_coreos failed', 'coreos-installer failed', 'no space left, 100% | <b>full</b>'],
  remedy: 'use a larger disk',
}

const REPORT: RunReport = {
  id: '2026-03-01-1',
  file: 'lab/hosts.yaml',
  rehearsed: false,
  check_only: false,
  through_ironic: null,
  started_at: new Date(BEGAN).toISOString(),
  ended_at: new Date(BEGAN + 60_000).toISOString(),
  seconds: 60,
  hosts: [
    host('well', {}),
    host('full', {
      outcome: 'failed',
      why: FAILURE.sentences[0]!,
      stages: [
        stage('bmc', 5),
        stage('boot', 15, { status: 'skipped', seconds: 0 }),
        stage('steps', 40, { status: 'failed', failure: FAILURE }),
      ],
      console: [{ kind: 'kernel panic', line: 'not syncing' }],
    }),
    host('later', { outcome: 'skipped', why: 'two hosts had failed', stages: [] }),
    host('stopped', { outcome: 'running', stages: [stage('bmc', 0, { status: 'started' })] }),
  ],
  compared_with: null,
  changes: [],
  both_ways: null,
  ok: false,
}

const LINES = new Map([
  ['well', 4],
  ['full', 11],
])

interface ReadCase {
  name: string
  failure?: { type: string; message: string; '#text': string }
  skipped?: { message: string }
}

test('JUnit has the innermost cause as its message, the chain with the remedy as its text, and a case for each stage', () => {
  const read = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '' }).parse(junitXml(REPORT)) as {
    testsuites: { failures: string; testsuite: { name: string; skipped: string; testcase: ReadCase[] }[] }
  }
  const { testsuites } = read
  expect(testsuites).toMatchObject({ tests: '32', failures: '1', skipped: '28' })
  const cases = (name: string) => testsuites.testsuite.find((suite) => suite.name === name)!.testcase
  const skips = (name: string) =>
    Object.fromEntries(cases(name).flatMap((each) => (each.skipped ? [[each.name, each.skipped.message]] : [])))
  expect(cases('full').find(({ name }) => name === 'steps')!.failure).toEqual({
    type: 'command-failed',
    message: 'no space left, 100% | <b>full</b>',
    '#text': [
      'the step install_coreos failed',
      'because: coreos-installer failed',
      'because: no space left, 100% | <b>full</b>',
      'try: use a larger disk',
      'console, kernel panic: not syncing',
    ].join('\n'),
  })
  expect(skips('full')).toEqual({
    boot: 'not needed',
    ssh: 'not reached: the stage steps failed',
    check: 'not reached: the stage steps failed',
    power: 'not reached: the stage steps failed',
    'first-boot': 'not reached: the stage steps failed',
    'post-checks': 'not reached: the stage steps failed',
  })
  expect(skips('later')).toMatchObject({ bmc: 'two hosts had failed', 'post-checks': 'two hosts had failed' })
  expect(skips('stopped')).toMatchObject({
    bmc: 'the run was stopped in this stage',
    boot: 'the run was stopped before this stage',
  })
})

test('the text says because of each cause and try of the remedy', () => {
  const text = runReportLines(REPORT).join('\n')
  expect(text).toContain('  because: coreos-installer failed\n')
  expect(text).toContain('  try: use a larger disk\n')
  expect(text).not.toContain('because: try')
})

test('the page begins with the table, failed hosts first, and has no gap without a word', () => {
  const page = reportHtml(REPORT)
  const order = [...page.matchAll(/<a href="#host-(\w+)">/g)].map(([, name]) => name)
  expect(order).toEqual(['full', 'stopped', 'well', 'later'])
  expect(page.indexOf('<a href="#host-full">')).toBeLessThan(page.indexOf('id="host-full"'))
  expect(page).toContain('failed in steps')
  expect(page).toContain('<b>What to do:</b> use a larger disk')
  expect(page).toContain('no space left, 100% | &lt;b&gt;full&lt;/b&gt;')
  const [, lane] = page.slice(page.indexOf('id="host-full"')).match(/aria-label="(Stages: [^"]+)"/)!
  expect(lane).toBe(
    [
      'Stages: waiting for its turn, 5.0 s',
      'bmc: done, 10.0 s',
      'waiting for the next stage, 25.0 s',
      'steps: failed, 10.0 s',
      'ended, 10.0 s',
    ].join('; '),
  )
})

test('GitHub gets an error at the line of each host that failed, on one line', () => {
  expect(githubAnnotations(REPORT, LINES)).toEqual([
    '::error title=full%3A failed in steps,file=lab/hosts.yaml,line=11::the step install_coreos failed' +
      '%0Abecause: coreos-installer failed%0Abecause: no space left, 100%25 | <b>full</b>%0Atry: use a larger disk',
  ])
})

test('GitLab gets an issue of Code Quality, whose fingerprint stays over runs', () => {
  const [issue, ...others] = JSON.parse(gitlabCodeQuality(REPORT, LINES)) as Record<string, unknown>[]
  expect(others).toEqual([])
  expect(issue).toMatchObject({
    description: expect.stringContaining('full: failed in steps: the step install_coreos failed; because: '),
    check_name: 'command-failed',
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    severity: 'critical',
    location: { path: 'lab/hosts.yaml', lines: { begin: 11 } },
  })
  const next = JSON.parse(gitlabCodeQuality({ ...REPORT, id: 'another' }, LINES)) as { fingerprint: string }[]
  expect(next[0]!.fingerprint).toBe(issue!['fingerprint'])
})

test('the Markdown summary has a table of hosts, and text of machines is no markup', () => {
  const text = runMarkdown(REPORT)
  expect(text).toContain('## Run 2026-03-01-1: 1 of 4 hosts ok\n')
  expect(text).toContain('| well | ok | 20.0 s |  |\n')
  expect(text).toContain(
    '| full | failed in steps | 20.0 s | no space left, 100% &#124; &#60;b&#62;full&#60;/b&#62; |\n',
  )
  expect(text).toContain('\n    because: coreos-installer failed\n')
  expect(text).toContain('\n    console, kernel panic: not syncing\n')
})
