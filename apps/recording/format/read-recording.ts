import { open } from 'node:fs/promises'
import { defined, isObject, UserError } from '../../../base/runtime/index.js'
import {
  FORMAT_VERSION,
  type RecordingExchange,
  type RecordingMessage,
  type Recording,
  type RecordingHeader,
} from './recording-exchange.js'
import { recordingError } from '../recording-error.js'

export interface ReadOptions {
  /** Leaves out a last line that is cut off, instead of refusing the file. */
  readonly partial?: boolean
}

/** Bytes of a line: bodies have a limit when they are recorded. */
const MAX_RECORDING_LINE_BYTES = 256 * 2 ** 20

/**
 * Reads a recording.
 *
 * @throws UserError `recording-unreadable`, `recording-version`, `recording-damaged` with the line's number, or
 *   `recording-cut`
 */
export const readRecording = (path: string, options: ReadOptions = {}): Promise<Recording> =>
  recordingIn(readLines(path), path, options)

/**
 * Reads the text of a recording.
 *
 * @param name of the file, for messages
 * @throws UserError `recording-version`, `recording-damaged` with the line's number, or `recording-cut`
 */
export const parseRecording = (text: string, name: string): Promise<Recording> => recordingIn(linesOf(text), name, {})

async function recordingIn(
  lines: AsyncIterable<RecordingLine> | Iterable<RecordingLine>,
  path: string,
  { partial = false }: ReadOptions,
): Promise<Recording> {
  const exchanges: RecordingExchange[] = []
  let header: RecordingHeader | undefined
  let isCut = false
  let number = 0
  for await (const { text, isWhole } of lines) {
    number += 1
    const what = `line ${number} of ${path}`
    if (!isWhole && number > 1) {
      if (!partial) throw cut(path, number, exchanges.length)
      isCut = true
    } else if (number === 1) header = headerOf(parseRecordingJson(text, what), path)
    else exchanges.push(exchangeOf(parseRecordingJson(text, what), what))
  }
  if (!header) throw recordingDamagedError(`${path} is empty: a recording has a header at least`)
  exchanges.sort((one, other) => one.seq - other.seq)
  return { name: path, header, exchanges, missing: findGaps(exchanges, path), isCut }
}

interface RecordingLine {
  readonly text: string
  readonly isWhole: boolean
}

function* linesOf(text: string): Generator<RecordingLine> {
  const lines = text.split('\n')
  const rest = lines.pop()!
  for (const line of lines) yield { text: line, isWhole: true }
  if (rest !== '') yield { text: rest, isWhole: false }
}

/** Lines without their ends; the last one is not whole where the file does not end with a line break. */
async function* readLines(path: string): AsyncGenerator<RecordingLine> {
  let parts: Buffer[] = []
  let length = 0
  try {
    await using file = await open(path, 'r')
    for await (const chunk of file.createReadStream({
      autoClose: false,
      highWaterMark: 2 ** 20,
    }) as AsyncIterable<Buffer>) {
      let from = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        parts.push(chunk.subarray(from, end))
        yield { text: Buffer.concat(parts).toString('utf8'), isWhole: true }
        parts = []
        length = 0
        from = end + 1
      }
      parts.push(chunk.subarray(from))
      length += chunk.length - from
      if (length > MAX_RECORDING_LINE_BYTES)
        throw recordingDamagedError(`${path} has a line of more than ${MAX_RECORDING_LINE_BYTES / 2 ** 20} MiB`)
    }
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    throw recordingError('recording-unreadable', `the recording ${path} cannot be read`, { kind: 'usage', cause })
  }
  if (length > 0) yield { text: Buffer.concat(parts).toString('utf8'), isWhole: false }
}

function parseRecordingJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw recordingDamagedError(`${what} is not JSON`, cause)
  }
}

function headerOf(value: unknown, path: string): RecordingHeader {
  const { recording, version } = (value ?? {}) as Partial<RecordingHeader>
  if (recording !== 'ironstage')
    throw recordingDamagedError(
      `${path} is no recording: its first line is not a header, {"recording":"ironstage","version":...}`,
    )
  if (version !== FORMAT_VERSION)
    throw recordingError(
      'recording-version',
      `${path} has version ${JSON.stringify(version) ?? 'none'} of the format, and this program reads ${FORMAT_VERSION}`,
      { kind: 'usage' },
    )
  return value as RecordingHeader
}

const PARTIES = ['client', 'ironic', 'agent']
const isText = (value: unknown): boolean => typeof value === 'string'

/** Conditions that the keys of a line meet. */
const CHECKS: readonly [key: keyof RecordingExchange, holds: (value: unknown) => boolean, wanted: string][] = [
  ['seq', (value) => Number.isInteger(value) && (value as number) > 0, 'a number from 1'],
  ['at', (value) => isText(value) && !Number.isNaN(Date.parse(value as string)), 'a time'],
  ['ms', (value) => typeof value === 'number' && value >= 0, 'a number of milliseconds'],
  ['from', (value) => PARTIES.includes(value as string), PARTIES.join(', ')],
  ['to', (value) => PARTIES.includes(value as string), PARTIES.join(', ')],
  ['node', (value) => value === undefined || isText(value), 'a text'],
  ['method', isText, 'a text'],
  ['target', (value) => isText(value) && (value as string).startsWith('/'), 'a path'],
  ['request', isMessage, 'an object with headers and bytes'],
  ['status', (value) => value === null || Number.isInteger(value), 'a number or null'],
  ['response', (value) => value === null || isMessage(value), 'null, or an object with headers and bytes'],
  ['failure', (value) => value === undefined || isText(value), 'a text'],
]

function isMessage(value: unknown): value is RecordingMessage {
  if (!isObject(value) || !isObject(value['headers'])) return false
  if (!Object.values(value['headers']).every(isText)) return false
  return (
    typeof value['bytes'] === 'number' &&
    [value['text'], value['base64']].every((one) => one === undefined || isText(one))
  )
}

function exchangeOf(value: unknown, what: string): RecordingExchange {
  if (!isObject(value)) throw recordingDamagedError(`${what} is no exchange: it is not an object`)
  for (const [key, holds, wanted] of CHECKS)
    if (!holds(value[key])) throw recordingDamagedError(`${what} is no exchange: ${key} is not ${wanted}`)
  if ((value['status'] === null) !== (value['response'] === null))
    throw recordingDamagedError(`${what} is no exchange: it has a status or a response, and not the other`)
  return value as unknown as RecordingExchange
}

function findGaps(exchanges: readonly RecordingExchange[], path: string): number[] {
  const gaps: number[] = []
  let next = 1
  for (const { seq } of exchanges) {
    if (seq < next) throw recordingDamagedError(`${path} has two exchanges with the number ${seq}`)
    while (next < seq && gaps.length < 10_000) gaps.push(next++)
    next = seq + 1
  }
  return gaps
}

const cut = (path: string, line: number, whole: number): UserError =>
  recordingError(
    'recording-cut',
    `${path} ends in the middle of line ${line}; ${whole} exchanges before it are whole`,
    {
      kind: 'usage',
    },
  )

const recordingDamagedError = (message: string, cause?: unknown): UserError =>
  recordingError('recording-damaged', message, { kind: 'usage', ...defined({ cause }) })
