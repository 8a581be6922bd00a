import { describe, expect, test } from 'vitest'
import { parseIgnition, readIgnition, validateIgnition } from '../../ignition/index.js'
import { readMetadata } from '../../coreos/index.js'
import { createLab, installCoreos } from '../../lab/index.js'
import { UserError } from '../../base/runtime/index.js'
import { readManifests } from '../../metal3/read-manifests.js'

const TOO_DEEP_MESSAGE = 'is nested more than 500 levels deep'
const LEVELS = [501, 5000, 9000, 100_000]

function nested(levels: number): unknown {
  let value: unknown = 'x'
  for (let level = 0; level < levels; level++) value = { a: value }
  return value
}
const text = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const ignition = (levels: number) => `{"ignition":{"version":"3.4.0"},"more":${text(levels)}}`

describe.each(LEVELS)('%i levels', (levels) => {
  test('of an Ignition config', () => {
    expect(() => parseIgnition(ignition(levels))).toThrow(TOO_DEEP_MESSAGE)
    const config = { ignition: { version: '3.4.0' }, more: nested(levels) }
    expect(() => parseIgnition(config)).toThrow(TOO_DEEP_MESSAGE)
    expect(validateIgnition(config)).toMatchObject({ valid: false, refusal: `it ${TOO_DEEP_MESSAGE}` })
    expect(() => readIgnition(config)).toThrow(UserError)
    // Ignition itself reads ten thousand levels.
    expect(validateIgnition(ignition(levels)).valid).toBe(levels < 10_000)
  })

  test('of manifests', () => {
    const flow = `kind: BareMetalHost\nspec: ${text(levels)}`
    expect(readManifests('host.yaml', flow).findings).toMatchObject([
      { kind: 'error', message: `it ${TOO_DEEP_MESSAGE}` },
    ])
  })

  test('of metadata', () => {
    expect(() => readMetadata(text(levels), 'stream.json')).toThrow(`stream.json ${TOO_DEEP_MESSAGE}`)
    expect(() => readMetadata(`kind: ${text(levels)}`, 'map.yaml')).toThrow(`map.yaml ${TOO_DEEP_MESSAGE}`)
  })
})

test('aliases that multiply in a manifest', () => {
  const names = [...'abcdefghij']
  const bomb = names.map(
    (name, index) => `${name}: &${name} [${index ? `*${names[index - 1]},*${names[index - 1]}` : 'x,x'}]`,
  )
  expect(readManifests('host.yaml', ['kind: BareMetalHost', ...bomb].join('\n')).findings).toMatchObject([
    { kind: 'error', message: 'it repeats itself by too many aliases' },
  ])
})

test('of the arguments of steps and of what a node says', async () => {
  await using lab = await createLab()
  const node = await lab.enroll({ deploySteps: [installCoreos({ ignition: nested(9000) as never })] })
  await expect(node.deploy()).rejects.toThrow(TOO_DEEP_MESSAGE)
  await expect(lab.client.createNode({ driver: 'fake-hardware', extra: { a: nested(9000) } })).rejects.toThrow(
    TOO_DEEP_MESSAGE,
  )
  // The conductor's own limit is lower.
  await expect(lab.client.createNode({ driver: 'fake-hardware', extra: { a: nested(400) } })).rejects.toThrow(
    'levels deep',
  )
})
