import { expect, test } from 'vitest'
import { parseChallenges } from './challenge.js'

test.each([
  ['Basic realm="x, y"', [{ scheme: 'basic', parameters: { realm: 'x, y' } }]],
  [
    'Bearer realm="https://a/token",service=a.b,scope="repository:x:pull,push"',
    [{ scheme: 'bearer', parameters: { realm: 'https://a/token', service: 'a.b', scope: 'repository:x:pull,push' } }],
  ],
  [
    'Negotiate, Bearer Realm="a\\"b", Basic',
    [
      { scheme: 'negotiate', parameters: {} },
      { scheme: 'bearer', parameters: { realm: 'a"b' } },
      { scheme: 'basic', parameters: {} },
    ],
  ],
  ['', []],
  ['realm="x"', []],
])('%s', (header, wanted) => expect(parseChallenges(header)).toEqual(wanted))

test('a long header without sense is read in no time', () => {
  const since = performance.now()
  parseChallenges(`Bearer ${'a=,'.repeat(50_000)}`)
  parseChallenges(`Bearer ${'a '.repeat(50_000)}`)
  parseChallenges(`Bearer a="${'\\'.repeat(50_000)}`)
  expect(performance.now() - since).toBeLessThan(1000)
})
