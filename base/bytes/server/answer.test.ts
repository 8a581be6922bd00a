import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesSource } from '../byte-source.js'
import { answerTo, type Representation } from './answer.js'
import { rangesOf } from './byte-range.js'

const BYTES = Buffer.from('0123456789')
const MODIFIED = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const THEN = 'Fri, 02 Jan 2026 03:04:05 GMT'
const EARLIER = 'Fri, 02 Jan 2026 03:04:04 GMT'
const LATER = 'Fri, 02 Jan 2026 03:04:06 GMT'
const file: Representation = { source: bytesSource(BYTES), etag: '"v1"', modified: MODIFIED, type: 'text/plain' }

/** Status and body of the answer, as a client would get them. */
function answer(headers: Record<string, string>, method = 'GET') {
  const { status, body, headers: sent } = answerTo({ method, headers }, file, 'B')
  const text = body
    .map((part) => (typeof part === 'string' ? part : BYTES.subarray(part.start, part.end).toString()))
    .join('')
  return { status, text, sent }
}

describe('ranges (RFC 9110, 14)', () => {
  test.each<[string, string, ReturnType<typeof rangesOf>]>([
    ['the first bytes', 'bytes=0-3', [{ start: 0, end: 4 }]],
    ['one byte', 'bytes=9-9', [{ start: 9, end: 10 }]],
    ['to the end', 'bytes=4-', [{ start: 4, end: 10 }]],
    ['further than the end', 'bytes=8-100', [{ start: 8, end: 10 }]],
    ['the last bytes', 'bytes=-3', [{ start: 7, end: 10 }]],
    ['more last bytes than there are', 'bytes=-100', [{ start: 0, end: 10 }]],
    [
      'two',
      'bytes=0-1, -2',
      [
        { start: 0, end: 2 },
        { start: 8, end: 10 },
      ],
    ],
    ['two of which one is not there', 'bytes=0-1,20-', [{ start: 0, end: 2 }]],
    ['empty members', 'bytes=, 1-2 ,', [{ start: 1, end: 3 }]],
    ['the unit in capitals', 'BYTES=1-2', [{ start: 1, end: 3 }]],
    ['behind the end', 'bytes=10-', 'unsatisfiable'],
    ['the last no bytes', 'bytes=-0', 'unsatisfiable'],
    ['numbers beyond reason', `bytes=${'9'.repeat(40)}-`, 'unsatisfiable'],
    ['backwards', 'bytes=5-4', 'ignore'],
    ['no range at all', 'bytes=', 'ignore'],
    ['neither end', 'bytes=-', 'ignore'],
    ['another unit', 'lines=1-2', 'ignore'],
    ['letters', 'bytes=a-b', 'ignore'],
    ['more than the whole', 'bytes=0-8,1-9', 'ignore'],
    ['very many', `bytes=${Array.from({ length: 17 }, () => '1-1').join()}`, 'ignore'],
  ])('%s', (_, header, expected) => expect(rangesOf(header, 10)).toEqual(expected))

  test('whatever is asked for is within the file, and no more than it', () => {
    const spec = fc.tuple(fc.option(fc.nat(40)), fc.option(fc.nat(40))).map(([a, b]) => `${a ?? ''}-${b ?? ''}`)
    fc.assert(
      fc.property(fc.array(spec, { maxLength: 20 }), fc.nat(30), (specs, size) => {
        const ranges = rangesOf(`bytes=${specs.join()}`, size)
        if (typeof ranges === 'string') return
        for (const { start, end } of ranges) expect(start >= 0 && start < end && end <= size).toBe(true)
        if (ranges.length > 1)
          expect(ranges.reduce((sum, { start, end }) => sum + end - start, 0)).toBeLessThanOrEqual(size)
      }),
    )
  })
})

describe('answers', () => {
  test('the whole file, with what tells it from another', () => {
    expect(answer({})).toEqual({
      status: 200,
      text: '0123456789',
      sent: {
        etag: '"v1"',
        'last-modified': THEN,
        'accept-ranges': 'bytes',
        'content-type': 'text/plain',
        'content-length': 10,
      },
    })
  })

  test('a part', () => {
    expect(answer({ range: 'bytes=2-4' })).toMatchObject({
      status: 206,
      text: '234',
      sent: { 'content-range': 'bytes 2-4/10', 'content-length': 3, etag: '"v1"' },
    })
  })

  test('several parts, of which the length is known before they are read', () => {
    const { status, text, sent } = answer({ range: 'bytes=0-1,-1' })
    expect(status).toBe(206)
    expect(sent['content-type']).toBe('multipart/byteranges; boundary=B')
    expect(text).toBe(
      '--B\r\ncontent-type: text/plain\r\ncontent-range: bytes 0-1/10\r\n\r\n01' +
        '\r\n--B\r\ncontent-type: text/plain\r\ncontent-range: bytes 9-9/10\r\n\r\n9\r\n--B--\r\n',
    )
    expect(sent['content-length']).toBe(text.length)
  })

  test('a part that is not there', () => {
    expect(answer({ range: 'bytes=10-' })).toMatchObject({ status: 416, sent: { 'content-range': 'bytes */10' } })
  })

  test('HEAD knows no ranges', () => {
    expect(answer({ range: 'bytes=2-4' }, 'HEAD')).toMatchObject({ status: 200, sent: { 'content-length': 10 } })
  })

  test.each<[string, Record<string, string>, number]>([
    ['it has this already', { 'if-none-match': '"v1"' }, 304],
    ['it has this among others, weakly', { 'if-none-match': '"v0", W/"v1"' }, 304],
    ['it has anything', { 'if-none-match': '*' }, 304],
    ['it has another', { 'if-none-match': '"v0"' }, 200],
    ['it has another, whatever the date', { 'if-none-match': '"v0"', 'if-modified-since': LATER }, 200],
    ['it has this one of that second', { 'if-modified-since': THEN }, 304],
    ['it has an older one', { 'if-modified-since': EARLIER }, 200],
    ['its date is none', { 'if-modified-since': 'yesterday' }, 200],
    ['it wants this one', { 'if-match': '"v1"' }, 200],
    ['it wants any', { 'if-match': '*' }, 200],
    ['it wants another', { 'if-match': '"v0"' }, 412],
    ['a weak one is none to match', { 'if-match': 'W/"v1"' }, 412],
    ['it wants what was there then', { 'if-unmodified-since': THEN }, 200],
    ['it wants what was there before', { 'if-unmodified-since': EARLIER }, 412],
    ['the one to match goes before the date', { 'if-match': '"v1"', 'if-unmodified-since': EARLIER }, 200],
    ['a part, if it is still this one', { range: 'bytes=0-0', 'if-range': '"v1"' }, 206],
    ['a part, if it is another one', { range: 'bytes=0-0', 'if-range': '"v0"' }, 200],
    ['a part, if it is a weak one', { range: 'bytes=0-0', 'if-range': 'W/"v1"' }, 200],
    ['a part, if of that second', { range: 'bytes=0-0', 'if-range': THEN }, 206],
    ['a part, if not newer', { range: 'bytes=0-0', 'if-range': LATER }, 200],
    ['a part of what it has', { range: 'bytes=0-0', 'if-none-match': '"v1"' }, 304],
    ['no part, of another one', { range: 'bytes=99-', 'if-range': '"v0"' }, 200],
  ])('%s', (_, headers, status) => expect(answer(headers).status).toBe(status))
})
