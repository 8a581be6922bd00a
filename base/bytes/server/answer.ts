import type { ByteSource } from '../byte-source.js'
import { rangesOf, type ByteRange } from './byte-range.js'
import { checkPreconditions, rangeApplies, type ConditionalHeaders, type FileValidators } from './http-preconditions.js'

/** A file that can be downloaded, whole or in part. */
export interface Representation extends FileValidators {
  source: ByteSource
  /** Media type. */
  type: string
  /** More headers. */
  headers?: Readonly<Record<string, string>>
  /** Called once the answer has been sent or has failed. */
  close?: () => Promise<void>
}

/** An answer to send: its body is of texts, and of ranges of the representation. */
export interface RangeAnswer {
  status: 200 | 206 | 304 | 412 | 416
  headers: Record<string, string | number>
  body: readonly (string | ByteRange)[]
}

/**
 * The answer to a GET or HEAD of a representation, without its bytes. The server leaves out the body of a HEAD.
 *
 * @param boundary between the parts of an answer with several ranges; it must not be in the bytes
 */
export function answerTo(
  { method, headers }: { method: string; headers: ConditionalHeaders },
  representation: Representation,
  boundary: string,
): RangeAnswer {
  const { source, type, etag, modified } = representation
  const { size } = source
  const known = {
    ...representation.headers,
    etag,
    'last-modified': new Date(modified).toUTCString(),
    'accept-ranges': 'bytes',
  }
  switch (checkPreconditions(headers, representation)) {
    case 'not modified':
      return { status: 304, headers: known, body: [] }
    case 'failed':
      return { status: 412, headers: { ...known, 'content-length': 0 }, body: [] }
    case 'go on':
  }
  // Ranges are defined for GET alone.
  const asked = method === 'GET' && rangeApplies(headers, representation) ? headers['range'] : undefined
  const ranges = rangesOf(asked as string | undefined, size)
  if (ranges === 'unsatisfiable') {
    return { status: 416, headers: { ...known, 'content-range': `bytes */${size}`, 'content-length': 0 }, body: [] }
  }
  if (ranges === 'ignore')
    return {
      status: 200,
      headers: { ...known, 'content-type': type, 'content-length': size },
      body: [{ start: 0, end: size }],
    }
  const within = ({ start, end }: ByteRange) => `bytes ${start}-${end - 1}/${size}`
  const [single, ...others] = ranges
  if (others.length === 0) {
    const length = single!.end - single!.start
    const sent = { 'content-type': type, 'content-length': length, 'content-range': within(single!) }
    return { status: 206, headers: { ...known, ...sent }, body: [single!] }
  }
  const body = [
    ...ranges.flatMap((range, index) => [
      `${index === 0 ? '' : '\r\n'}--${boundary}\r\ncontent-type: ${type}\r\ncontent-range: ${within(range)}\r\n\r\n`,
      range,
    ]),
    `\r\n--${boundary}--\r\n`,
  ]
  const length = body.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : part.end - part.start), 0)
  return {
    status: 206,
    headers: { ...known, 'content-type': `multipart/byteranges; boundary=${boundary}`, 'content-length': length },
    body,
  }
}
