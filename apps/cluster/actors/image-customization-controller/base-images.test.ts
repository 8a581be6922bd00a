import { expect, test } from 'vitest'
import { defined } from '../../../../base/runtime/index.js'
import { baseImageFor, namedFiles, type BaseImages } from './base-images.js'

const iso = (target: string, stream?: string, architecture?: string) => ({
  target,
  path: `/images/${target}-${stream}-${architecture}.iso`,
  ...defined({ stream, architecture }),
})
/** As copy-metal links two streams and two architectures. */
const ALL: BaseImages = [
  iso('nine'),
  iso('nine', undefined, 'x86_64'),
  iso('nine-arm', undefined, 'aarch64'),
  iso('ten', 'rhel-10'),
  iso('ten', 'rhel-10', 'x86_64'),
]

test.each([
  ['the one of its stream and architecture', { stream: 'rhel-10', architecture: 'x86_64' }, 'ten'],
  ['the default one without a stream', { architecture: 'x86_64' }, 'nine'],
  ['the default one of a stream that there is not', { stream: 'rhel-11', architecture: 'x86_64' }, 'nine'],
  [
    'the default one of its architecture, which its stream lacks',
    { stream: 'rhel-10', architecture: 'aarch64' },
    'nine-arm',
  ],
  ['none of an architecture that there is not', { architecture: 's390x' }, undefined],
  ['the one of its stream without an architecture', { stream: 'rhel-10' }, 'ten'],
])('a host boots %s', (_, wanted, target) => {
  expect(baseImageFor(ALL, wanted)?.target).toBe(target)
})

test('a stream without a link of the architecture loses to the default with one', () => {
  const unqualified = ALL.filter(({ stream, architecture }) => stream === undefined || architecture === undefined)
  expect(baseImageFor(unqualified, { stream: 'rhel-10', architecture: 'x86_64' })?.target).toBe('nine')
  const alone = unqualified.filter(({ architecture }) => architecture === undefined)
  expect(baseImageFor(alone, { stream: 'rhel-10', architecture: 'x86_64' })?.target).toBe('ten')
})

test('an ISO that several links name is served once', () => {
  expect(namedFiles(ALL).map(({ name }) => name)).toEqual(['nine', 'nine-arm', 'ten'])
})
