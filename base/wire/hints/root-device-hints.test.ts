import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { HINT_CASES } from '../../../test/kit/root-device-hints.js'
import { HintError } from './python-values.js'
import { parseRootDeviceHints, satisfiesHints } from './root-device-hints.js'

type Answer = readonly [satisfied: boolean | null, exception: string | null, words: string | null]

const recorded = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/root-device-hints/recorded.json', import.meta.url), 'utf8'),
) as Answer[]

function ours({ hints, disk, by }: (typeof HINT_CASES)[number]): Answer {
  try {
    return [satisfiesHints(disk, parseRootDeviceHints(hints, by)), null, null]
  } catch (error) {
    if (!(error instanceof HintError)) throw error
    return [null, error.kind, error.kind === 'ParseException' ? null : error.message]
  }
}

/** Python's sentences about its own values and types, which differ from ours. */
const PYTHON = /^(malformed node|invalid|unsupported operand|leading zeros)/

describe('root device hints mean what they mean to the real Ironic', () => {
  test('the recording has an answer for each row', () => {
    expect(recorded).toHaveLength(HINT_CASES.length)
    expect(recorded.length).toBeGreaterThan(150)
  })

  test.each(HINT_CASES.map((row, index) => [JSON.stringify(row.hints), index] as const))('%s (%i)', (_, index) => {
    const [satisfied, exception, words] = ours(HINT_CASES[index]!)
    const real = recorded[index]!
    expect([satisfied, exception]).toEqual([real[0], real[1]])
    if (!PYTHON.test(real[2] ?? '')) expect(words).toBe(real[2])
  })
})
