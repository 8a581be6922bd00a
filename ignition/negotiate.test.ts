import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { negotiate } from './negotiate.js'
import { readIgnition } from './read-spec.js'
import { SPEC_VERSIONS } from './spec/spec-versions.js'
import { validateIgnition } from './validate-config.js'

const asks = (...versions: string[]) =>
  [...versions.map((version) => `application/vnd.coreos.ignition+json;version=${version}`), '*/*;q=0.1'].join(', ')

const of = (version: string, more: object = {}) => readIgnition({ ignition: { version }, ...more })

const luks = { storage: { luks: [{ name: 'data', device: '/dev/sdb', discard: true }] } }

describe('the version that is served', () => {
  test.each([
    ['the config’s own, to a newer Ignition', '3.2.0', asks('3.6.0'), '3.2.0'],
    ['the config’s own, to an Ignition of a version not known here', '3.2.0', asks('3.9.0'), '3.2.0'],
    ['the config’s own, without a header', '3.6.0', undefined, '3.6.0'],
    ['the config’s own, to a browser', '3.6.0', 'text/html, */*;q=0.8', '3.6.0'],
    ['an older one, to an older Ignition', '3.6.0', asks('3.2.0'), '3.2.0'],
    ['the newest of several that the header names', '3.6.0', asks('3.1.0', '3.3.0'), '3.3.0'],
    [
      'an experimental one, to the Ignition that has it',
      '3.7.0-experimental',
      asks('3.7.0-experimental'),
      '3.7.0-experimental',
    ],
    ['a stable one in place of an experimental one', '3.7.0-experimental', asks('3.6.0'), '3.6.0'],
    ['a stable one, to an Ignition after the experimental one', '3.7.0-experimental', asks('3.8.0'), '3.6.0'],
  ])('is %s', (_, own, accept, served) => {
    const answer = negotiate(accept, of(own))
    expect(answer).toMatchObject({ version: served, config: { ignition: { version: served } } })
  })

  test('a config that would lose fields is refused with their names', () => {
    expect(negotiate(asks('3.3.0'), of('3.4.0', luks))).toEqual({
      refusal:
        'the machine reads spec 3.3.0 at most, and the config is of 3.4.0: spec 3.3.0 has no place for $.storage.luks.0.discard',
    })
    expect(negotiate(asks('3.4.0'), of('3.4.0', luks))).toMatchObject({ version: '3.4.0' })
  })

  test('an Ignition of spec 2 is refused with the reason', () => {
    const header =
      'application/vnd.coreos.ignition+json; version=2.4.0, application/vnd.coreos.ignition+json; version=1; q=0.5, */*; q=0.1'
    expect(negotiate(header, of('3.0.0'))).toEqual({
      refusal: 'the machine reads spec 2.4.0 and 1 only, and configs are of spec 3: it needs an Ignition of version 2',
    })
  })

  test('a served config is valid and readable by the client', () => {
    const versions = fc.constantFrom(...SPEC_VERSIONS)
    fc.assert(
      fc.property(
        versions,
        versions,
        fc.constantFrom({}, luks, { kernelArguments: { shouldExist: ['a'] } }),
        (own, asked, more) => {
          const read = validateIgnition({ ignition: { version: own }, ...more })
          if (!read.config) return
          const answer = negotiate(asks(asked), { version: own, config: read.config })
          if ('refusal' in answer) return
          expect(SPEC_VERSIONS.indexOf(answer.version)).toBeLessThanOrEqual(SPEC_VERSIONS.indexOf(asked))
          expect(validateIgnition(answer.config)).toMatchObject({ valid: true, version: answer.version })
        },
      ),
    )
  })

  test('any header gets an answer', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        expect(() => negotiate(header, of('3.0.0'))).not.toThrow()
      }),
    )
  })
})
