import { expect, test } from 'vitest'
import { isSafeRegistriesChange } from './registries-change.js'

const registry = (location: string, ...mirrors: [string, string?][]): string =>
  [
    `[[registry]]\nlocation = "${location}"`,
    ...mirrors.map(([place, pulls]) => {
      const from = pulls === undefined ? '' : `\npull-from-mirror = "${pulls}"`
      return `[[registry.mirror]]\nlocation = "${place}"${from}`
    }),
  ].join('\n')
const SEARCHED = 'unqualified-search-registries = ["a.io", "b.io"]\n'
const ONE = registry('quay.io/ocp', ['one.local/ocp', 'digest-only'])

test.each<[string, string, string, boolean]>([
  ['nothing', ONE, ONE, true],
  ['a registry by digest', ONE, `${ONE}\n${registry('b.io', ['two.local', 'digest-only'])}`, true],
  ['a registry by tag', ONE, `${ONE}\n${registry('b.io', ['two.local', 'tag-only'])}`, false],
  ['a registry without mirrors', ONE, `${ONE}\n${registry('b.io')}`, false],
  [
    'a mirror by digest',
    ONE,
    registry('quay.io/ocp', ['one.local/ocp', 'digest-only'], ['two.local', 'digest-only']),
    true,
  ],
  ['a mirror for all', ONE, registry('quay.io/ocp', ['one.local/ocp', 'digest-only'], ['two.local']), false],
  ['a mirror that is gone', ONE, registry('quay.io/ocp'), false],
  ['a registry that is gone', ONE, '', false],
  ['a mirror that is asked for tags now', ONE, registry('quay.io/ocp', ['one.local/ocp', 'all']), false],
  ['a mirror that is asked by digest now', registry('quay.io/ocp', ['one.local/ocp']), ONE, true],
  [
    'a registry that is blocked',
    ONE,
    ONE.replace('location = "quay.io/ocp"', 'location = "quay.io/ocp"\nblocked = true'),
    false,
  ],
  ['another search order', SEARCHED, 'unqualified-search-registries = ["b.io", "a.io"]\n', false],
  ['a longer search', SEARCHED, 'unqualified-search-registries = ["a.io", "b.io", "c.io"]\n', true],
  ['a file that is no TOML', ONE, '[[', false],
])('%s', (_, before, after, isSafe) => {
  expect(isSafeRegistriesChange(before, after)).toBe(isSafe)
})
