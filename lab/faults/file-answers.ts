import type { FileBody } from '../../base/bytes/index.js'
import type { Clock } from '../../base/runtime/index.js'
import { answerOfFile, ConnectionFailed, fileBody, fileOf, type WireResponse } from '../../base/wire/index.js'
import { CUT_OFF } from './faulty-answers.js'

/** Changes the body of a file's answer, and no other answer. */
function withFile(
  answer: WireResponse,
  change: (body: FileBody, length: number | undefined) => FileBody['next'],
): WireResponse {
  const file = fileOf(answer)
  if (!file) return answer
  const stated = answer.headers['content-length']
  const next = change(file.body, stated === undefined ? undefined : Number(stated))
  return answerOfFile(answer, { statusText: file.statusText, body: fileBody(next, () => file.body.close()) })
}

/** A file whose connection closes in the middle of the body; of one whose length is not known, in the middle of its first part. */
export const cutFile = (answer: WireResponse): WireResponse =>
  withFile(answer, (body, length) => {
    let left = length === undefined ? undefined : Math.floor(length / 2)
    return async () => {
      if (left === 0) throw new ConnectionFailed(CUT_OFF)
      const part = await body.next()
      if (!part) throw new ConnectionFailed(CUT_OFF)
      left ??= Math.ceil(part.length / 2)
      const some = part.subarray(0, left)
      left -= some.length
      return some
    }
  })

/** One byte of each so many is wrong. */
const WRONG_BYTE_SPACING = 4096
const FIRST_WRONG_BYTE = 1000

/** A file with wrong bytes, of the right length. */
export const spoiltFile = (answer: WireResponse): WireResponse =>
  withFile(answer, (body, length = Infinity) => {
    const wrong = Math.min(FIRST_WRONG_BYTE, Math.floor(length / 2))
    let at = 0
    return async () => {
      const part = await body.next()
      if (!part) return undefined
      const spoilt = Uint8Array.from(part)
      for (
        let index = (wrong - (at % WRONG_BYTE_SPACING) + WRONG_BYTE_SPACING) % WRONG_BYTE_SPACING;
        index < spoilt.length;
        index += WRONG_BYTE_SPACING
      )
        spoilt[index] = 255 - spoilt[index]!
      at += part.length
      return spoilt
    }
  })

/** A file whose bytes come at a pace. */
export const slowedFile = (answer: WireResponse, pace: number, clock: Clock, signal?: AbortSignal): WireResponse =>
  withFile(answer, (body) => {
    const piece = Math.max(1, Math.ceil(pace / 10))
    let ahead: Uint8Array | undefined
    return async () => {
      ahead ??= await body.next()
      if (!ahead) return undefined
      const some = ahead.subarray(0, piece)
      ahead = some.length < ahead.length ? ahead.subarray(piece) : undefined
      await clock.sleep((some.length / pace) * 1000, signal ? { signal } : {})
      return some
    }
  })

/** Drops an answer that its receiver never gets. */
export const dropFile = async (answer: WireResponse): Promise<void> => fileOf(answer)?.body.close()
