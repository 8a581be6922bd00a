import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLab, type Lab } from './index.js'

// JavaScript callers, and TypeScript with a value of an unknown type.

type Loose = (...values: unknown[]) => Promise<unknown>
const made = createLab as unknown as Loose

describe('createLab refuses', () => {
  test.each([
    ['an unknown option', { node: 3 }, 'createLab: there is no option node'],
    ['a misspelt option', { clok: 'auto' }, 'createLab: there is no option clok; did you mean clock?'],
    ['a seed that is no integer', { seed: 1.5 }, 'createLab: seed is a number, and not a whole number'],
    ['a seed as text', { seed: '7' }, 'createLab: seed is a text, and not a whole number'],
    [
      'an unknown mode of the clock',
      { clock: 'fast' },
      'createLab: clock is "fast": it takes auto, manual, or a speed',
    ],
    ['a clock that stands still', { clock: 0 }, 'createLab: clock is 0, which is no speed: 1 is wall time'],
    ['disks of another kind', { disks: 'files' }, 'createLab: disks is "files"; did you mean file?'],
    [
      'a misspelt part of ironic',
      { ironic: { profil: 'upstream' } },
      'there is no option ironic.profil; did you mean profile?',
    ],
    ['an unknown profile', { ironic: { profile: 'upsteam' } }, 'ironic.profile is "upsteam"; did you mean upstream?'],
    [
      'options of ironic.conf as an object',
      { ironic: { set: { 'api.max_limit': 10 } } },
      'ironic.set is a mapping, and not',
    ],
    ['a port out of range', { listen: { host: '127.0.0.1', port: 70_000 } }, 'listen.port must be <= 65535'],
    ['hardware without a list', { hardware: { disks: [] } }, 'createLab: hardware is a mapping, and not'],
    ['misspelt hardware', { hardware: [{ hardware: { disk: [] } }] }, 'createLab: the hardware of entry 1'],
    ['a text', 'auto', 'createLab: the argument is not an object with options'],
    ['null', null, 'createLab: the argument is not an object with options'],
  ])('%s: %j', async (_, options, message) => {
    await expect(made(options)).rejects.toThrow(message)
  })

  test('nothing of options that have no value', async () => {
    await using lab = await createLab({ seed: undefined, hardware: undefined } as object)
    expect((await lab.enroll({ fields: undefined } as object)).uuid).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('a lab refuses', () => {
  let lab: Lab
  beforeAll(async () => {
    lab = await createLab()
    await lab.enroll({ fields: { name: 'taken' } })
  })
  afterAll(() => lab[Symbol.asyncDispose]())

  test.each([
    ['a name in place of options', 'node-1', 'enroll: the argument is not an object with options'],
    ['a misspelt option', { field: {} }, 'enroll: there is no option field; did you mean fields?'],
    ['steps that are none', { deploySteps: ['install_coreos'] }, 'enroll: deploySteps.0 is a text, and not a mapping'],
    ['a step without its interface', { deploySteps: [{ step: 'x' }] }, 'enroll: deploySteps.0.interface is missing'],
    ['a name that is taken', { fields: { name: 'taken' } }, 'A node with name taken already exists.'],
  ])('to enroll %s', async (_, options, message) => {
    await expect((lab.enroll as unknown as Loose)(options)).rejects.toThrow(message)
  })

  test.each([
    ['an unknown kind', { match: {}, effect: { kind: 'explode' } }, 'faults.add: effect.kind is "explode"'],
    [
      'a misspelt condition',
      { match: { nod: 'a' }, effect: { kind: 'bmc-silent' } },
      'there is no option match.nod; did you mean node?',
    ],
    ['no effect', { match: {} }, 'faults.add: effect is missing'],
    ['nothing', null, 'faults.add: the argument is not an object with options'],
  ])('a fault with %s', (_, fault, message) => {
    expect(() => lab.faults.add(fault as never)).toThrow(message)
    expect(() => lab.faults.addAll([fault as never])).toThrow(message)
    expect(lab.faults.list()).toEqual([])
  })

  test('nothing of a fault whose time is a text, as in a file', () => {
    using fault = lab.faults.add({ match: { to: 'ironic' }, effect: { kind: 'delay', for: '3s' } } as never)
    expect(lab.faults.get(fault.id)!.effect).toEqual({ kind: 'delay', ms: 3000 })
  })
})

test('a lab says that it has been disposed of', async () => {
  const lab = await createLab()
  await lab[Symbol.asyncDispose]()
  await expect(lab.enroll()).rejects.toThrow('the lab has been disposed of')
  await expect(lab.node('node-0')).rejects.toThrow('the lab has been disposed of')
  expect((await lab.fetchAt('http://ironic.test')('http://ironic.test/v1')).status).toBe(503)
  expect(() => lab.faults.add({ match: {}, effect: { kind: 'bmc-silent' } })).toThrow('the lab has been disposed of')
  await lab[Symbol.asyncDispose]()
})
