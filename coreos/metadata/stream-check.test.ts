import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { UserError } from '../../base/runtime/index.js'
import { fedoraStream, rhelStream } from '../../test/kit/streams.js'
import { mirroredUrl, relocateStream } from './mirror.js'
import { readMetadata, schemaProblems } from './read-metadata.js'
import { checkStream } from './stream-check.js'
import { diffStreams } from './stream-diff.js'
import { imageFormat } from './stream-lookup.js'
import { STREAM_KIND, type StreamMetadata } from './stream-metadata.js'

const changed = (change: (stream: StreamMetadata) => void): StreamMetadata => {
  const stream = structuredClone(fedoraStream())
  change(stream)
  return stream
}
const metal = (stream: StreamMetadata, architecture = 'x86_64') =>
  stream.architectures[architecture]!.artifacts['metal']!

describe('row 38: a stream is checked against its schema and for consistency', () => {
  test.each([
    ['Fedora CoreOS', fedoraStream()],
    ['RHEL CoreOS', rhelStream()],
    ['Stream CoreOS', rhelStream({ os: 'scos', name: 'c10s' })],
  ])('row 11: the stream of %s has no findings', (_, stream) => {
    expect(STREAM_KIND.problems(stream)).toEqual([])
    expect(checkStream(stream)).toEqual([])
  })

  const wrongs: [string, (stream: StreamMetadata) => void, string, RegExp][] = [
    [
      'http where https must be',
      (s) => (metal(s).formats['iso']!.disk!.location = 'http://x.example.org/a.iso'),
      'architectures.x86_64.artifacts.metal.formats.iso.disk.location',
      /^is http, and must be https: http:\/\/x/,
    ],
    [
      'another release in one architecture',
      (s) => (s.architectures['x86_64']!.artifacts['qemu']!.release = '38.20230806.3.0'),
      'architectures.x86_64.artifacts.qemu',
      /^is release 38.20230806.3.0, while artifacts.aws is 38.20230718.3.0$/,
    ],
    [
      'an AMI of another release',
      (s) => (s.architectures['x86_64']!.images!.aws!.regions!['us-east-1']!.release = '1'),
      'architectures.x86_64.images.aws.regions.us-east-1',
      /^is release 1, while/,
    ],
    [
      'a file of another architecture',
      (s) => (metal(s).formats['iso'] = metal(s, 's390x').formats['iso']!),
      'architectures.x86_64.artifacts.metal.formats.iso.disk.location',
      /^is of 38.20230718.3.0 for s390x, and not of 38.20230718.3.0 for x86_64/,
    ],
    [
      'one file with two digests',
      (s) => {
        metal(s).formats['raw.xz']!.disk!.location = metal(s).formats['iso']!.disk!.location
      },
      'architectures.x86_64.artifacts.metal.formats.raw.xz.disk.sha256',
      /^differs from that of .*iso.disk, which is the same file/,
    ],
    [
      'one digest of two files',
      (s) => {
        metal(s).formats['raw.xz']!.disk!.sha256 = metal(s).formats['iso']!.disk!.sha256
      },
      'architectures.x86_64.artifacts.metal.formats.raw.xz.disk.sha256',
      /^is that of .*iso.disk, which is another file$/,
    ],
    [
      'a network boot without root filesystem',
      (s) => void delete metal(s).formats['pxe']!.rootfs,
      'architectures.x86_64.artifacts.metal.formats.pxe',
      /^has no rootfs$/,
    ],
  ]
  test.each(wrongs)('%s', (_, change, path, message) => {
    const found = checkStream(changed(change))
    expect(found).toContainEqual({ kind: 'error', path, message: expect.stringMatching(message) as string })
  })

  test('http is accepted when it is allowed', () => {
    const local = changed((s) => (metal(s).formats['iso']!.disk!.location = 'http://127.0.0.1/a.iso'))
    expect(checkStream(local, { insecure: true })).toEqual([])
  })

  test('another release for another architecture is only a warning', () => {
    const stream = changed((s) => {
      s.architectures['s390x'] = fedoraStream({ version: '38.20230806.3.0' }).architectures['s390x']!
    })
    expect(checkStream(stream)).toEqual([
      {
        kind: 'warning',
        path: 'architectures.s390x',
        message: 'is release 38.20230806.3.0, while aarch64 is 38.20230718.3.0',
      },
    ])
  })

  test.each([
    [(s: StreamMetadata) => (metal(s).formats['iso']!.disk!.sha256 = 'ABC'), 'iso.disk.sha256 must match pattern'],
    [(s: StreamMetadata) => (metal(s).formats['iso']!.disk!.location = 'x.iso'), 'iso.disk.location must match format'],
    [
      (s: StreamMetadata) => (metal(s).formats['iso']!.disk!.location = 'https://['),
      'iso.disk.location must match format',
    ],
    [
      (s: StreamMetadata) => (metal(s).formats['iso']!.disk!.location = 'https://x/%zz'),
      'iso.disk.location must match format',
    ],
    [(s: StreamMetadata) => (metal(s).formats['iso'] = {}), 'formats.iso must NOT have fewer than 1'],
    [(s: StreamMetadata) => (s.metadata['last-modified'] = 'yesterday'), 'metadata.last-modified must match pattern'],
    [(s: StreamMetadata) => void delete (s as Partial<StreamMetadata>).stream, 'it has no stream'],
    [
      (s: StreamMetadata) =>
        void delete (metal(s) as Partial<StreamMetadata['architectures']['x']['artifacts']['x']>).release,
      'metal has no release',
    ],
  ])('its schema: %#', (change, problem) => {
    const text = JSON.stringify(changed(change))
    expect(schemaProblems(text, 's.json')).toMatchObject({ kind: 'stream' })
    expect(schemaProblems(text, 's.json').problems.join('; ')).toContain(problem)
    expect(() => readMetadata(text, 's.json')).toThrow(/^s\.json is not valid stream metadata: /)
  })

  test.each([
    ['<html>', /s is not metadata of CoreOS/],
    ['{"a": 1}', /s is not metadata of CoreOS/],
    ['{"a": ', /s is not JSON/],
  ])('%s is not metadata', (text, message) => {
    expect(() => readMetadata(text, 's')).toThrow(message)
  })
})

test('row 38: a damaged stream is refused with an explanation, or is still a stream', () => {
  const whole = rhelStream()
  const places: (string | number)[][] = []
  const walk = (value: unknown, path: (string | number)[]): void => {
    places.push(path)
    if (typeof value === 'object' && value !== null)
      for (const [key, one] of Object.entries(value)) walk(one, [...path, key])
  }
  walk(whole, [])
  fc.assert(
    fc.property(fc.constantFrom(...places), fc.oneof(fc.jsonValue(), fc.webUrl()), (path, value) => {
      let damaged: unknown = structuredClone(whole)
      if (path.length === 0) damaged = value
      else {
        let holder = damaged as Record<string | number, unknown>
        for (const key of path.slice(0, -1)) holder = holder[key] as typeof holder
        holder[path.at(-1)!] = value
      }
      try {
        const { kind, value: read } = readMetadata(JSON.stringify(damaged), 'damaged')
        if (kind !== 'stream') return
        checkStream(read)
        diffStreams(whole, read)
        relocateStream(read, (location) => mirroredUrl('http://127.0.0.1', location))
      } catch (error) {
        expect(error).toBeInstanceOf(UserError)
      }
    }),
    { numRuns: 50 },
  )
})

describe('row 38: two copies of a stream that drift apart', () => {
  test('when it was made is no difference, nor an empty signature', () => {
    const other = { ...rhelStream(), metadata: { 'last-modified': '2030-01-01T00:00:00Z', generator: 'x' } }
    imageFormat(other, 'x86_64', 'metal', 'iso').disk!.signature = ''
    expect(diffStreams(rhelStream(), other)).toEqual([])
  })
  test('every value that differs is named', () => {
    const other = changed((s) => {
      metal(s).formats['iso']!.disk!.sha256 = 'f'.repeat(64)
      delete s.architectures['s390x']!.images!.aws!.regions!['eu-west-1']
    })
    const iso = fedoraStream().architectures['x86_64']!.artifacts['metal']!.formats['iso']!.disk!
    expect(diffStreams(fedoraStream(), other)).toEqual([
      ...(['image', 'release'] as const).map((key) => ({
        path: `architectures.s390x.images.aws.regions.eu-west-1.${key}`,
        before: key === 'image' ? 'ami-s392' : '38.20230718.3.0',
        after: null,
      })),
      {
        path: 'architectures.x86_64.artifacts.metal.formats.iso.disk.sha256',
        before: iso.sha256,
        after: 'f'.repeat(64),
      },
    ])
  })
})
