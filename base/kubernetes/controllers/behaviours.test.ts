import { expect, test } from 'vitest'
import { Behaviours, isBehaviourOf, type Behaviour } from './behaviours.js'

const common = { says: 'nothing happens', source: 'operator 1234567 main.go' }
const always: Behaviour = { ...common, name: 'mco/always', stories: { today: 'a', document: 'a' } }
const between: Behaviour = { ...always, name: 'mco/between', since: '4.10', until: '4.22' }
const planned: Behaviour = { ...common, name: 'mco/planned', stories: { document: 'b' }, document: '000' }
const found: Behaviour = { ...common, name: 'mco/found', stories: { today: 'c' } }
const all = [always, between, planned, found]

test.each([
  ['4.9.0', false],
  ['4.9.58', false],
  ['4.10.0', true],
  ['4.10.0-rc.1', true],
  ['4.22.9', true],
  ['4.23.0', false],
  ['5.0.0', false],
])('an actor of %s has a behaviour of 4.10 to 4.22: %s', (release, expected) => {
  expect(new Behaviours(all).of(release).has(between)).toBe(expected)
})

test('the design documents know no releases; an actor of no release is newer than all', () => {
  expect(new Behaviours(all, { as: 'document' }).of('4.9.0').has(between)).toBe(true)
  expect(new Behaviours(all).has(between)).toBe(false)
  expect(isBehaviourOf({ ...between, since: '4.10' }, 'today', 'no release')).toBe(false)
})

test('each era has its own behaviours, without those that are taken away', () => {
  const has = (choice: ConstructorParameters<typeof Behaviours>[1]) =>
    all.filter((one) => new Behaviours(all, choice).has(one)).map(({ name }) => name)
  expect(has({})).toEqual(['mco/always', 'mco/found'])
  expect(has({ as: 'document', without: ['mco/always'] })).toEqual(['mco/between', 'mco/planned'])
})

test('what is taken away stays away in each release', () => {
  const behaviours = new Behaviours(all, { without: ['mco/between'] })
  expect(behaviours.of('4.14.0').has(between)).toBe(false)
})

test('a name that is nearly right is answered with the right one', () => {
  const remedies = ['mco/alway', 'mco/alwais', 'always'].map((name) => {
    try {
      return new Behaviours(all, { without: [name] })
    } catch (error) {
      return (error as { remedy?: string }).remedy
    }
  })
  const list = 'list them with ironstage rehearse upgrade --list --as today'
  expect(remedies).toEqual([`did you mean mco/always? ${list}`, `did you mean mco/always? ${list}`, list])
})

test.each([
  ['mco/sleeps', 'there is no behaviour mco/sleeps'],
  ['mco/planned', "today's operators have no behaviour mco/planned"],
])('%s is refused, with a way to those that there are', (name, message) => {
  expect(() => new Behaviours(all, { without: [name] })).toThrow(message)
  try {
    new Behaviours(all, { without: [name] })
  } catch (error) {
    expect(error).toMatchObject({ kind: 'usage', remedy: expect.stringContaining('rehearse upgrade --list') as string })
  }
})
