import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { findingLine, SPEC_VERSIONS, validateIgnition } from '../../../ignition/index.js'
import { texts } from './configs.js'
import { HAND_WRITTEN } from './hand-written.js'
import { realIgnition, type AskIgnition } from './peer.js'

let ask: AskIgnition
beforeAll(async () => {
  ask = await realIgnition()
})

/** Go tells of unknown keys in whatever order its maps have, of one object's. */
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
