import type { FileBody } from '../bytes/index.js'

/** One request as it stands on the wire, over HTTP or within this process. */
export interface WireRequest {
  readonly method: string
  /** Path with leading slash and the query string, percent-encoded as sent. */
  readonly target: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** The body's bytes as text; absent when there is none. */
  readonly body?: string
  /** The body's bytes in place of its text, of a type that a server takes as such. */
  readonly bytes?: Uint8Array
  /** How the caller reached us, for building links: `http://host:port`, no trailing slash. */
  readonly base: string
  /** Address of the caller; absent for one in this process. */
  readonly peer?: string | undefined
}

export interface WireResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

const bytes = new WeakMap<WireResponse, () => Uint8Array>()

/**
 * Answer with a large body, which is there as UTF-8. A server sends these bytes; the text is made for those who read it. A
 * copy of the answer has the text only.
 */
export function answerOfBytes<Headers extends WireResponse['headers']>(
  status: number,
  headers: Headers,
  made: () => Uint8Array,
): WireResponse & { readonly headers: Headers } {
  const response = {
    status,
    headers,
    get body() {
      return Buffer.from(made()).toString()
    },
  }
  bytes.set(response, made)
  return response
}

/**
 * The parts of a body that has no foreseeable end, as text, or as the UTF-8 of whole characters where several clients get the
 * same. The signal aborts when the client has gone or the server closes.
 *
 * @param isOverSocket whether a server sends them
 */
export type OpenStream = (signal: AbortSignal, isOverSocket?: boolean) => AsyncIterable<string | Uint8Array>

const streams = new WeakMap<WireResponse, OpenStream>()

/** Answer whose body is sent as it comes into being, such as a watch. It has no body as a text. */
export function answerOfStream(
  status: number,
  headers: Readonly<Record<string, string>>,
  open: OpenStream,
): WireResponse {
  const response = { status, headers }
  streams.set(response, open)
  return response
}

export const streamToSend = (response: WireResponse): OpenStream | undefined => streams.get(response)

/** The answer of a file server: its body is bytes, which are read once. */
export interface FileOfAnswer {
  /** The server's own words. */
  readonly statusText: string
  readonly body: FileBody
}

const answerFiles = new WeakMap<WireResponse, FileOfAnswer>()

/** Answer whose body is that of a file. It has no body as a text. */
export function answerOfFile(
  { status, headers }: Pick<WireResponse, 'status' | 'headers'>,
  file: FileOfAnswer,
): WireResponse {
  const response = { status, headers }
  answerFiles.set(response, file)
  return response
}

export const fileOf = (response: WireResponse): FileOfAnswer | undefined => answerFiles.get(response)

/** The body as it is sent. */
export const bodyToSend = (response: WireResponse): Uint8Array | string | undefined =>
  bytes.get(response)?.() ?? response.body

/**
 * Answers requests; never throws for bad input. The HTTP server and the in-process transport both end here, so a lab
 * without sockets sees the same bytes as a client with curl.
 */
export type Dispatch = (request: WireRequest) => Promise<WireResponse>

/** A request to an absolute URL. */
export interface OutgoingRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** PEM of the certificate that the peer has to show, or that its one is signed by; without, the public authorities. */
  readonly ca?: string
  /** Aborts the exchange; the transport rejects with its reason. */
  readonly signal?: AbortSignal
}

/** Carries requests. Rejects with {@link ConnectionFailed} when no answer came; any status is an answer. */
export interface Transport {
  send(request: OutgoingRequest): Promise<WireResponse>
}

/** No answer came: refused, reset, timed out, not resolved. */
export class ConnectionFailed extends Error {
  override name = 'ConnectionFailed'
}
