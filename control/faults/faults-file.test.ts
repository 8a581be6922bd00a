import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Fault } from './fault.js'
import { readFaultsFile, writeFaultsFile } from './faults-file.js'

const FAULTS: Fault[] = [
  {
    match: { node: 'node-3', bmc: 'set boot' },
    effect: { kind: 'bmc-dark', ms: 90_000 },
    times: 1,
    label: 'yes',
  },
  {
    match: { route: 'PUT /v1/nodes/:id/states/provision' },
    effect: { kind: 'status', status: 503, body: { a: ['1', 1, null] } },
    between: [0, 3_600_500],
    after: 2,
    probability: 0.25,
  },
  {
    match: { program: 'coreos-installer' },
    effect: { kind: 'exit-code', code: 1, stderr: 'Error: reading image\n\nCaused by:\n    no such image\n' },
  },
]

test('exported faults are read back as they were', () => {
  const text = writeFaultsFile(FAULTS)
  expect(readFaultsFile(text, 'faults.yaml')).toEqual(FAULTS)
  expect(text).toContain('for: 1m30s')
  expect(text).toContain('- 3600500ms')
  expect(writeFaultsFile(readFaultsFile(text, 'faults.yaml'))).toBe(text)
})

test('what a report has beside a fault is no part of the file', () => {
  const [first] = FAULTS
  expect(writeFaultsFile([{ ...first!, id: 'fault-1', struck: 3 } as Fault])).toBe(writeFaultsFile([first!]))
})

test('the example of the documentation survives an export', () => {
  const day = readFaultsFile(readFileSync('examples/bad-day.yaml', 'utf8'), 'bad-day.yaml')
  expect(day).toHaveLength(9)
  expect(readFaultsFile(writeFaultsFile(day), 'exported')).toEqual(day)
})

test('no faults are a file without faults', () => {
  expect(readFaultsFile(writeFaultsFile([]), 'none')).toEqual([])
})

test('secrets in the body of an answer are masked, and the file says so', () => {
  const text = writeFaultsFile([
    { match: {}, effect: { kind: 'status', status: 200, body: { password: 'hunter22', url: 'http://me:pw@host/' } } },
  ])
  expect(text).toMatch(/^# Secrets are masked/)
  expect(text).not.toMatch(/hunter22|me:pw/)
  expect(readFaultsFile(text, 'masked')).toHaveLength(1)
})

const WRONG: readonly (readonly [text: string, sentence: string])[] = [
  [
    '- match: {\n  effect: x\n',
    'f.yaml: this is not YAML: Flow map in block collection must be sufficiently indented and end with a }, in line 2: effect: x',
  ],
  ['- match: {node: a\n', ', in line 1: - match: {node: a'],
  [
    '# first\n- match: {}\n  effect: { kind: bmc-silent }\n- match: {}\n  effect: { kind: agent-silnt }\n',
    'f.yaml, fault 2, is wrong: effect.kind is "agent-silnt"; did you mean agent-silent?, in line 5: effect: { kind: agent-silnt }',
  ],
  [
    'faults:\n- match: {}\n  effect: { kind: bmc-silent }\n  times: often\n',
    'f.yaml is wrong: times is a text, and not a whole number, in line 4: times: often',
  ],
  ['match: {}\n', 'f.yaml is wrong: effect is missing, in line 1: match: {}'],
  ['faults: []\nmore: 1\n', 'more must not stand beside faults, in line 2: more: 1'],
  ['', 'f.yaml is wrong: it is empty, and not a mapping'],
  ['- a: &a [*a]\n', 'f.yaml'],
]

test.each(WRONG)('%j is refused in words with the text of its line', (text, sentence) => {
  expect(() => readFaultsFile(text, 'f.yaml')).toThrow(sentence)
})

test('a line that may hold a password is named and not shown', () => {
  const text = '- match: {}\n  effect: { kind: stauts, status: 200, body: { password: hush } }\n'
  expect(() => readFaultsFile(text, 'f.yaml')).toThrow(/in line 2$/)
})

test('a long line is shown by its beginning', () => {
  const text = `- match: {}\n  effect: { kind: exit-code, code: x, stderr: '${'long '.repeat(1000)}' }\n`
  expect(() => readFaultsFile(text, 'f.yaml')).toThrow(/in line 2: effect.{90,94}\.\.\.$/)
})
