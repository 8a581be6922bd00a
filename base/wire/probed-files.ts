import { STATUS_CODES } from 'node:http'
import { FetchFailure, failurePlaceOf, type FileBody, type HttpThrough, type ServerAnswer } from '../bytes/index.js'
import { unlessAborted, type Probe } from '../runtime/index.js'
import { answerOfFile, ConnectionFailed, fileOf, type WireResponse } from './wire-exchange.js'
import type { ExchangePoint, Parties } from './probed.js'

/** Attributes of a point beyond those of every exchange. */
export interface FilePoint extends Parties {
  readonly machine?: string
  readonly node?: string
}

/** Requests of an HTTP client for files pass the probe. Its body passes part by part, when the exchange has been seen. */
export const probedDownloads =
  (probe: Probe, about: FilePoint): HttpThrough =>
  async (request, send) => {
    if (!probe.watches('exchange')) return send()
    const { method, headers, signal } = request
    const url = new URL(request.url)
    const failed = (code: 'reset' | 'cut-off', cause: ConnectionFailed) =>
      new FetchFailure(code, failurePlaceOf(url), { cause, detail: cause.message })
    const asked = { method, url: request.url, headers: { host: url.host, ...headers }, signal }
    const point = { ...about, method, url: url.href, target: url.pathname + url.search, request: asked }
    try {
      return await seen(probe, { kind: 'exchange', side: 'client', changes: [], ...point }, signal, send, (cause) =>
        failed('cut-off', cause),
      )
    } catch (error) {
      throw error instanceof ConnectionFailed ? failed('reset', error) : error
    }
  }

/** The same for requests that a file server answers. */
export const probedFiles =
  (probe: Probe, aboutOf: (target: string) => FilePoint): HttpThrough =>
  async ({ method, url: target, headers, signal }, send) => {
    if (!probe.watches('exchange')) return send()
    const base = `http://${headers['host'] ?? 'images.invalid'}`
    const asked = { method, target, headers, base }
    const point = { ...aboutOf(target), method, url: base + target, target, request: asked }
    try {
      return await seen(
        probe,
        { kind: 'exchange', side: 'server', changes: [], ...point },
        signal,
        send,
        connectionResetError,
      )
    } catch (error) {
      throw error instanceof ConnectionFailed ? connectionResetError(error) : error
    }
  }

/** The server closes the connection then. */
const connectionResetError = (cause: ConnectionFailed): Error =>
  Object.assign(new Error(cause.message, { cause }), { code: 'ECONNRESET' })

async function seen(
  probe: Probe,
  point: ExchangePoint,
  signal: AbortSignal,
  send: () => Promise<ServerAnswer>,
  cutOff: (cause: ConnectionFailed) => Error,
): Promise<ServerAnswer> {
  const sent = async (): Promise<WireResponse> => {
    const { status, statusText, headers, body } = await send()
    return answerOfFile({ status, headers: definedOf(headers) }, { statusText, body })
  }
  const drop = (late: WireResponse) => fileOf(late)?.body.close()
  const answer = await unlessAborted(probe.around(point, sent), signal, drop)
  const { status, headers } = answer
  const file = fileOf(answer)
  if (file) return { status, statusText: file.statusText, headers, body: failingAs(file.body, signal, cutOff) }
  const body = Buffer.from(answer.body ?? '')
  const statusText = STATUS_CODES[status] ?? ''
  return {
    status,
    statusText,
    headers: { ...headers, 'content-length': String(body.length) },
    body: makeBytesBody(body),
  }
}

const definedOf = (headers: ServerAnswer['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined))

function makeBytesBody(bytes: Uint8Array): FileBody {
  let left: Uint8Array | undefined = bytes.length > 0 ? bytes : undefined
  const next = async (): Promise<Uint8Array | undefined> => {
    const part = left
    left = undefined
    return part
  }
  return fileBody(next, async () => void (left = undefined))
}

/** A body whose connection breaks as the receiver's client or server reports it. */
function failingAs(body: FileBody, signal: AbortSignal, cutOff: (cause: ConnectionFailed) => Error): FileBody {
  const next = async (): Promise<Uint8Array | undefined> => {
    try {
      return await unlessAborted(body.next(), signal)
    } catch (error) {
      throw error instanceof ConnectionFailed ? cutOff(error) : error
    }
  }
  return fileBody(next, () => body.close())
}

/** A body of parts that come one after another; `close` drops those that are left. */
export function fileBody(next: FileBody['next'], close: FileBody['close']): FileBody {
  return {
    next,
    close,
    async *[Symbol.asyncIterator]() {
      for (let part = await next(); part; part = await next()) yield part
    },
  }
}
