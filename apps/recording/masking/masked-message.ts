import { isUtf8 } from 'node:buffer'
import { defined, isNestedDeeper } from '../../../base/runtime/index.js'
import type { RecordingMessage } from '../format/recording-exchange.js'
import type { Masker } from './masker.js'

/** The recorded part of a body. */
export interface Excerpt {
  readonly excerpt: Buffer
  /** Length of the whole. */
  readonly bytes: number
}

/** A request or an answer as it is recorded, without secrets. */
export function makeRecordedMessage(
  headers: Readonly<Record<string, string>>,
  { excerpt, bytes }: Excerpt,
  masker: Masker,
): RecordingMessage {
  const shown = { headers: masker.headers(headers), bytes }
  if (bytes === 0) return shown
  const isCut = bytes > excerpt.length
  const isJson = /[/+]json\b/i.test(headers['content-type'] ?? '') || /^\s*[{[]/.test(excerpt.toString('latin1', 0, 64))
  if (isCut) {
    // In a part of a document, secrets cannot be recognised.
    const beginning = isJson ? undefined : wholeCharacters(excerpt)
    return { ...shown, ...defined({ text: beginning === undefined ? undefined : masker.text(beginning) }), cut: true }
  }
  if (!isUtf8(excerpt)) return { ...shown, base64: excerpt.toString('base64') }
  const text = excerpt.toString('utf8')
  if (!isJson) return { ...shown, text: masker.text(text) }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return { ...shown, text: masker.text(text) }
  }
  return isNestedDeeper(body) ? { ...shown, cut: true } : { ...shown, body: masker.json(body) }
}

/** The text without a last character that was cut off; undefined where it is none. */
function wholeCharacters(bytes: Buffer): string | undefined {
  for (let left = 0; left < 4; left++) {
    const part = bytes.subarray(0, Math.max(0, bytes.length - left))
    if (isUtf8(part)) return part.toString('utf8')
  }
  return undefined
}
