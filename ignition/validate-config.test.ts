import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findingLine } from './findings.js'
import { SPEC_VERSIONS } from './spec/spec-versions.js'
import { validateIgnition } from './validate-config.js'

type Recorded = [text: string, error: string | null, lines: string[]]

/** Verdicts of the real Ignition 2.26.0; test/real/ignition compares them again, and thousands more. */
const RECORDED = readFileSync(new URL('../test/fixtures/ignition/verdicts.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Recorded)

const verdict = (text: string): Recorded => {
  const { refusal, findings } = validateIgnition(text)
  return [text, refusal, findings.map(findingLine)]
}

/** Sorts the lines: Go reports the unknown keys of one object in random order. */
const unordered = ([text, error, lines]: Recorded) => ({ text, error, lines: [...lines].sort() })

test('verdicts, sentences, paths, lines and columns are those recorded of Ignition', () => {
  expect(RECORDED.length).toBeGreaterThan(500)
  for (const recorded of RECORDED) expect(unordered(verdict(recorded[0]))).toEqual(unordered(recorded))
})

test('a finding has line and column in bytes, and a warning alone refuses nothing', () => {
  const text = '{"ignition": {"version": "3.4.0"},\n "é": 1, "storage": {"files": [{"path": "/a", "mode": 2541}]}}'
  expect(validateIgnition(text)).toMatchObject({
    valid: true,
    version: '3.4.0',
    refusal: null,
    findings: [
      { kind: 'warning', path: '$.storage.files.0.mode', place: { line: 2, column: 56 } },
      { kind: 'warning', path: '$.é', place: { line: 2, column: 2 }, message: 'unused key é' },
    ],
  })
})

test('unknown keys of an object are reported in the order of the text', () => {
  const { findings } = validateIgnition('{"zeta": 1, "ignition": {"version": "3.4.0"}, "beta": 2, "alpha": 3}')
  expect(findings.map(({ path }) => path)).toEqual(['$.zeta', '$.beta', '$.alpha'])
})

test('of several partition numbers that collide the first in the text is reported', () => {
  const partitions = [1, 2, 2, 1].map((number, index) => ({ number, label: `p${index}` }))
  const { findings } = validateIgnition({
    ignition: { version: '3.4.0' },
    storage: { disks: [{ device: '/dev/sda', partitions }] },
  })
  const collisions = findings.filter(({ message }) => message === 'partition numbers collide')
  expect(collisions.map(({ path }) => path)).toEqual(['$.storage.disks.0.partitions.2'])
})

test('findings about an object have no places', () => {
  const { findings } = validateIgnition({ ignition: { version: '3.4.0' }, storage: { files: [{ path: 'a' }] } })
  expect(findings.map(findingLine)).toEqual(['error at $.storage.files.0.path: path not absolute'])
})

test('null counts as absent, unknown keys are dropped, and the config has the types of its version', () => {
  const text =
    '{"ignition":{"version":"3.0.0"},"x":{},"kernelArguments":{"shouldExist":["a"]},"systemd":{"units":null}}'
  expect(validateIgnition(text).config).toEqual({ ignition: { version: '3.0.0' }, systemd: {} })
})

test.each(SPEC_VERSIONS)('the smallest config of %s is valid', (version) => {
  expect(validateIgnition({ ignition: { version } })).toMatchObject({ valid: true, version, findings: [] })
})

describe('the validator gives a verdict', () => {
  const keys = fc.constantFrom('ignition', 'version', 'storage', 'files', 'path', 'systemd', 'units', 'contents', 'x')
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('3.4.0', '/a', '[', 'data:;base64,a', null, true, -1, 1.5, '__proto__'),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(keys, tie('json'), { maxKeys: 4 }),
    ),
  }))

  test('on any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(validateIgnition(bytes).valid).toBe(false)
      }),
    )
  })

  test('on any JSON under a known version', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(...SPEC_VERSIONS), (value, version) => {
        const report = validateIgnition({ ...(value as object), ignition: { version } })
        expect(report.valid).toBe(report.config !== null)
        expect(report.valid).toBe(!report.findings.some(({ kind }) => kind === 'error'))
      }),
    )
  })

  test.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('on %s of any depth, and refuses those that Go refuses', (_, open, close) => {
    const deep = (depth: number) => `{"ignition":{"version":"3.4.0"},"x":${open.repeat(depth)}1${close.repeat(depth)}}`
    expect(validateIgnition(deep(9_999))).toMatchObject({ valid: true })
    const [finding] = validateIgnition(deep(10_000)).findings
    expect(finding?.message).toMatch(/^invalid character '[[{]' exceeded max depth$/)
    expect(validateIgnition(deep(1_000_000)).valid).toBe(false)
  })

  test('on keys named like members of Object.prototype, as on any other', () => {
    const text = '{"ignition":{"version":"3.4.0"},"__proto__":{"storage":1},"constructor":1,"storage":{"toString":[]}}'
    const { findings, config } = validateIgnition(text)
    expect(findings.map(({ message }) => message)).toEqual([
      'unused key __proto__',
      'unused key constructor',
      'unused key toString',
    ])
    expect(config).toEqual({ ignition: { version: '3.4.0' }, storage: {} })
  })
})

describe('the validator is quick on', () => {
  const config = (storage: object) => JSON.stringify({ ignition: { version: '3.4.0' }, storage })
  const units = (contents: string) =>
    JSON.stringify({ ignition: { version: '3.4.0' }, systemd: { units: [{ name: 'a.service', contents }] } })
  const thousands = <T>(make: (i: number) => T): T[] => Array.from({ length: 5000 }, (_, i) => make(i))

  test.each([
    [
      'links, each above everything',
      config({ links: thousands(() => ({ path: '/l' })), files: thousands(() => ({ path: '/l/f' })) }),
    ],
    ['a path of slashes', config({ links: [{ path: '/a' }], files: [{ path: '/'.repeat(500_000) }] })],
    ['a unit of blanks', units(`[a]\n${' x'.repeat(300_000)}=${' '.repeat(300_000)}x`)],
    ['a section name followed by blanks', units(`[a]${' '.repeat(500_000)}b`)],
    [
      'a URL of brackets',
      config({ files: [{ path: '/a', contents: { source: `http://${'[:%25'.repeat(100_000)}` } }] }),
    ],
    [
      'a data URL of quotes',
      config({ files: [{ path: '/a', contents: { source: `data:;a="${'\\\\"'.repeat(100_000)},` } }] }),
    ],
    ['a version of digits', `{"ignition":{"version":"3.4.${'9'.repeat(500_000)}"}}`],
    ['a version of dots', `{"ignition":{"version":"3.4.0-${'a.'.repeat(250_000)}"}}`],
    ['a number of digits', `{"ignition":{"version":"3.4.0","timeouts":{"httpTotal":${'9'.repeat(500_000)}}}}`],
  ])('%s, and limits its findings', (_, text) => {
    const { valid, findings } = validateIgnition(text)
    expect(valid).toBe(false)
    expect(findings.length).toBeLessThanOrEqual(10_000)
  })
})
