import { describe, expect, test } from 'vitest'
import { isImagePlace, parsePlace, parseReference, referenceText } from './reference.js'

const DIGEST = `sha256:${'a'.repeat(64)}`

describe('a reference', () => {
  test.each([
    ['quay.io/openshift/release:4.15', { registry: 'quay.io', repository: 'openshift/release', tag: '4.15' }],
    ['localhost:5000/a/b', { registry: 'localhost:5000', repository: 'a/b', tag: 'latest' }],
    ['[::1]:5000/a:b', { registry: '[::1]:5000', repository: 'a', tag: 'b' }],
    [`quay.io/r@${DIGEST}`, { registry: 'quay.io', repository: 'r', digest: DIGEST }],
    [`quay.io/r:t@${DIGEST}`, { registry: 'quay.io', repository: 'r', tag: 't', digest: DIGEST }],
    ['alpine', { registry: 'docker.io', repository: 'library/alpine', tag: 'latest' }],
    ['docker.io/alpine:3', { registry: 'docker.io', repository: 'library/alpine', tag: '3' }],
    ['index.docker.io/me/it', { registry: 'docker.io', repository: 'me/it', tag: 'latest' }],
    ['me/it', { registry: 'docker.io', repository: 'me/it', tag: 'latest' }],
    ['Registry/r', { registry: 'Registry', repository: 'r', tag: 'latest' }],
  ])('%s', (text, wanted) => {
    expect(parseReference(text)).toEqual(wanted)
    expect(parseReference(referenceText(parseReference(text)))).toMatchObject({ registry: wanted.registry })
  })

  test.each([
    ['', /an empty text names no image/],
    ['quay.io/', /"" is no part of a repository/],
    ['quay.io/Upper:x', /"Upper" is no part/],
    ['quay.io/a//b', /"" is no part/],
    ['quay.io/a/../b', /"\.\." is no part/],
    ['quay.io:99999999/a', /is no host/],
    ['quay.io:70000/a', /is no host/],
    ['user:secret@quay.io/a', /is no digest/],
    ['quay.io/a:b c', /is no tag/],
    ['quay.io/a@sha256:abc', /"sha256:abc" is no digest/],
    [`quay.io/a@sha256:${'A'.repeat(64)}`, /is no digest/],
    [`quay.io/a@${DIGEST}@${DIGEST}`, /more than one @/],
    [`quay.io/${'a'.repeat(300)}`, /more than 255/],
  ])('"%s" is refused', (text, message) => {
    expect(() => parseReference(text)).toThrow(message)
    expect(() => parseReference(text)).toThrow(
      expect.objectContaining({ code: 'image-reference', kind: 'usage' }) as Error,
    )
  })
})

test('a password in a name is not shown', () => {
  for (const text of ['me:secret@quay.io/a:1', 'docker://me:secret@quay.io/a', `me:secret@quay.io/a@${DIGEST}`])
    expect(() => parsePlace(text)).toThrow(/^(?!.*secret).*names no image/s)
})

describe('a place', () => {
  test.each([
    ['oci:a/b', { kind: 'layout', folder: 'a/b' }],
    ['oci:/x/y:4.15', { kind: 'layout', folder: '/x/y', tag: '4.15' }],
    [`oci:x@${DIGEST}`, { kind: 'layout', folder: 'x', digest: DIGEST }],
    ['docker://quay.io/a', { kind: 'registry', registry: 'quay.io', repository: 'a', tag: 'latest' }],
  ])('%s', (text, wanted) => expect(parsePlace(text)).toEqual(wanted))

  test.each(['oci:', 'oci:x:', 'oci:x@sha256:1'])('%s is refused', (text) =>
    expect(() => parsePlace(text)).toThrow(/names no image/),
  )
})

test.each([
  ...[
    'quay.io/a:b',
    `quay.io/a@${DIGEST}`,
    'localhost:5000/a/b:c',
    'localhost/a:b',
    'oci:x',
    'docker://a',
    '[::1]:5000/a:b',
  ].map((text) => [text, true] as const),
  // Names of streams, files with and without a stream in them, folders, and URLs.
  ...[
    'stable',
    './quay.io/a:b',
    'streams/stable.json',
    'dir.d/stream.json',
    'a.yaml#rhel-9',
    '/x.y/z:1',
    'x/y:1',
    'https://a.b/c:1',
    'quay.io/a',
    '../a.b/c:d',
  ].map((text) => [text, false] as const),
])('whether %s names an image: %s', (text, wanted) => expect(isImagePlace(text)).toBe(wanted))
