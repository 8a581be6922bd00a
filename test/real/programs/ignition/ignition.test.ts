import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  findingLine,
  mergeIgnition,
  SPEC_VERSIONS,
  translateIgnition,
  validateIgnition,
} from '../../../../ignition/index.js'
import { texts } from './configs.js'
import { HAND_WRITTEN } from './hand-written.js'
import { realIgnition, type AskIgnition } from './peer.js'

let ask: AskIgnition
beforeAll(async () => {
  ask = await realIgnition()
})

/** Sorts the lines about unknown keys of one object, which Go prints in the random order of its maps. */
const inOneOrder = (lines: string[]): string[] => [
  ...lines.filter((line) => !line.includes(': unused key ')),
  ...lines.filter((line) => line.includes(': unused key ')).sort(),
]

const ours = (text: string) => {
  const { findings, refusal } = validateIgnition(text)
  return { error: refusal, report: inOneOrder(findings.map(findingLine)) }
}

async function differences(corpus: readonly string[]) {
  const real = await ask(corpus.map((text) => [text]))
  expect(real).toHaveLength(corpus.length)
  const found = corpus.flatMap((text, index) => {
    const { error, report } = real[index]!
    const theirs = { error, report: inOneOrder(report.split('\n').filter(Boolean)) }
    const own = ours(text)
    return JSON.stringify(own) === JSON.stringify(theirs) ? [] : [{ text, own, theirs }]
  })
  // The shortest say the most.
  return found.sort((a, b) => a.text.length - b.text.length).slice(0, 10)
}

describe('the same verdict, sentences, paths, lines and columns as Ignition', () => {
  test('on configs written by hand', async () => {
    expect(await differences(HAND_WRITTEN)).toEqual([])
  })

  test.each(SPEC_VERSIONS)('on configs of %s made from its schema', async (version) => {
    const valid = fc.sample(texts(version, false), { numRuns: 300, seed: 7 })
    const spoiled = fc.sample(texts(version, true), { numRuns: 700, seed: 7 })
    expect(await differences([...valid, ...spoiled])).toEqual([])
    const taken = valid.filter((text) => ours(text).error === null)
    // A corpus of refused configs alone would show little.
    expect(taken.length).toBeGreaterThan(50)
  })
})

const EXPERIMENTAL_SPEC = '3.7.0-experimental'

/** Ours of a list of valid configs, in the version that Ignition raises all to. */
function merged(corpus: readonly string[]): object {
  const raised = corpus.map((text) => {
    const { version, config } = validateIgnition(text)
    return translateIgnition(config!, version!, EXPERIMENTAL_SPEC, { asIgnitionDoes: true })
  })
  return raised.reduce((parent, child) => mergeIgnition(parent, child, EXPERIMENTAL_SPEC))
}

/** Go writes out empty objects, and what is always there in its structs, empty or not. */
function comparable(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.length > 0 ? value.map((item) => comparable(item) ?? {}) : undefined
  if (typeof value !== 'object' || value === null)
    return value === null || (value === '' && ['name', 'device', 'path', 'url'].includes(key)) ? undefined : value
  const parts = Object.entries(value).flatMap(([name, part]) => {
    const own = comparable(part, name)
    return own === undefined || (name === 'number' && own === 0) ? [] : [[name, own] as const]
  })
  return parts.length > 0 ? Object.fromEntries(parts) : undefined
}

describe('the same config as Ignition', () => {
  const corpus = SPEC_VERSIONS.flatMap((version, seed) => [
    ...fc.sample(texts(version, false), { numRuns: 120, seed }),
    ...fc.sample(texts(version, true), { numRuns: 60, seed }),
  ]).filter((text) => validateIgnition(text).valid)

  test('made by raising one to the newest version', async () => {
    expect(corpus.length).toBeGreaterThan(400)
    const real = await ask(corpus.map((text) => [text]))
    for (const [index, text] of corpus.entries())
      expect(comparable(merged([text])), text).toEqual(comparable(real[index]!.config))
  })

  test('made by merging two and three, of the same and of several versions', async () => {
    const groups = corpus.flatMap((text, index) => {
      const other = (step: number) => corpus[(index * step + 1) % corpus.length]!
      return [
        [text, corpus[(index + 1) % corpus.length]!],
        [text, other(7), other(31)],
      ]
    })
    expect(groups.length).toBeGreaterThan(800)
    const real = await ask(groups)
    for (const [index, group] of groups.entries())
      expect(comparable(merged(group)), group.join('\n')).toEqual(comparable(real[index]!.config))
  })
})
