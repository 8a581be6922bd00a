import { expect, test } from 'vitest'
import type { ListedOption } from './listed-option.js'
import { formerNames, LISTED_OPTIONS, placeName, type KnownOption, type OptionPlace } from './known-options.js'
import { OPTION_LISTING } from './option-listing.js'
import { expectedValue } from './option-values.js'
import { readIronicConfig } from './read-config.js'

const NAMED = LISTED_OPTIONS.flatMap((known) => [known, ...formerNames(known).map((place) => ({ ...known, ...place }))])

test('all options of Ironic 39 and their former names are in the table', () => {
  expect(OPTION_LISTING.packages['ironic']).toBe('39.0.0')
  // The listing alone has 1,042 options and 64 former names; the services register more when they start.
  const listed = Object.entries(OPTION_LISTING.namespaces).flatMap(([namespace, sections]) =>
    Object.values(sections).flatMap((options) => Object.values(options).map((option) => ({ namespace, option }))),
  )
  expect(listed).toHaveLength(1162)
  expect(listed.filter(({ namespace }) => namespace === 'ironic').length).toBeGreaterThan(800)
  expect(new Set(NAMED.map(placeName)).size).toBeGreaterThan(1230)
})

/** A value as a file has it. */
function written({ option }: KnownOption, value: unknown): string {
  if (Array.isArray(value)) return value.join(',')
  if (option.type === 'dict')
    return Object.entries(value as object)
      .map(([name, one]) => `${name}:${one}`)
      .join(',')
  return String(value)
}

/** A value that an option takes: its default, or else the first of its choices or a value of its type. */
function goodValue(known: KnownOption): string {
  const { option } = known
  if (known.name === 'public_endpoint') return 'http://192.0.2.1:6385'
  if (known.name === 'default_network_interface') return 'noop'
  if (/^default_.*_interface$/.test(known.name)) return 'fake'
  if (option.default !== undefined) return written(known, option.default)
  const choice = option.choices?.find((each) => each !== null)
  return String(choice ?? option.min ?? EXAMPLES[option.type])
}

const EXAMPLES: Record<ListedOption['type'], string> = {
  text: 'some text',
  boolean: 'yes',
  integer: '7',
  float: '0.5',
  port: '6385',
  list: '',
  dict: '',
  range: '1-2',
  'host address': '192.0.2.1',
  'host domain': 'a_b.example.com',
  hostname: 'host.example.com',
  'ip address': '2001:db8::1',
  uri: 'http://192.0.2.1:8080/v1',
  'absolute path': '/srv',
  'kernel parameters': 'nofb',
}

const fileOf = (settings: readonly (readonly [OptionPlace, string])[]) => ({
  name: 'ironic.conf',
  text: settings.map(([{ section, name }, value]) => `[${section}]\n${name} = ${value}\n`).join(''),
})

test('a file that sets each option to a value of its type is read', () => {
  const files = [fileOf(NAMED.map((known) => [known, goodValue(known)]))]
  const { notes, details } = readIronicConfig({ files })
  expect(notes[0]).toMatch(/^ironic.conf sets 1\d\d\d options of Ironic that have no effect here/)
  expect(details[0]).toContain('[vnc]enabled')
})

test('each choice of an option is taken, and no other', () => {
  const chosen = LISTED_OPTIONS.filter(({ option }) => option.choices)
  for (const known of chosen)
    for (const choice of known.option.choices ?? [])
      if (choice !== null) expect(() => readIronicConfig({ files: [fileOf([[known, String(choice)]])] })).not.toThrow()
  expect(() => readIronicConfig({ files: [fileOf(chosen.map((known) => [known, 'nonsense']))] })).toThrow(
    `${chosen.length} settings cannot be used`,
  )
})

test.each<[string, ListedOption, string, string | undefined]>([
  ['a number in its limits', { type: 'integer', min: 0, max: 5 }, '5', undefined],
  ['a number above', { type: 'integer', min: 0, max: 5 }, '6', 'a whole number from 0 to 5'],
  ['a number below', { type: 'integer', min: 1 }, '0', 'a whole number from 1'],
  ['no whole number', { type: 'integer' }, '1.5', 'a whole number'],
  ['nothing, which is not set', { type: 'integer', min: 1 }, '', undefined],
  ['a fraction', { type: 'float' }, '1e-3', undefined],
  ['a port', { type: 'port' }, '65536', 'a whole number from 0 to 65535'],
  ['a short yes', { type: 'boolean' }, 'y', 'true or false'],
  ['a capital choice', { type: 'text', choices: ['Days'], ignoreCase: true }, 'DAYS', undefined],
  ['another choice', { type: 'text', choices: [null, '1.2'] }, '1.1', 'one of 1.2'],
  ['a list of numbers', { type: 'list', item: { type: 'integer' } }, '1, 2,', undefined],
  ['a list with a word', { type: 'list', item: { type: 'integer' } }, '1,b', 'a whole number'],
  ['a dictionary', { type: 'dict' }, 'a:1,b:x:y', undefined],
  ['a dictionary with a comma in a value', { type: 'dict' }, 'a:1,2', 'pairs like key:value, separated by commas'],
  ['a value that is repeated', { type: 'dict', multi: true }, 'a:1\nb:2', undefined],
  ['a host name', { type: 'host address' }, 'ironic.example.com', undefined],
  ['an address with a digit too many', { type: 'host address' }, '192.0.2.1111', 'an address or a host name'],
  ['an underscore', { type: 'host domain' }, 'a_b.example.com', undefined],
  ['a URL of another scheme', { type: 'uri', schemes: ['http', 'https'] }, 'ftp://a', 'a URL of http, https'],
  ['a path that leaves', { type: 'absolute path' }, '/a/../b', 'an absolute path without .. and .'],
])('values are checked by their types: %s', (_, option, text, expected) => {
  expect(expectedValue(option, text)).toBe(expected)
})
