import { defined } from '../../../base/runtime/index.js'
import { recordedHeaders } from '../proxy/headers.js'
import { Masker } from '../masking/masker.js'
import { makeRecordedMessage } from '../masking/masked-message.js'
import { SecretNames } from '../masking/secret-names.js'
import type { IdMap } from '../comparison/ids.js'
import type { RecordingExchange, RecordingMessage } from '../format/recording-exchange.js'
import { ConnectionFailed, type Transport, type WireResponse } from '../../../base/wire/index.js'

const SECRET_PLACEHOLDERS = /\*\*\*\d+/g

export interface SenderOptions {
  /** URL of the Ironic, without a slash at its end. */
  readonly url: string
  readonly transport: Transport
  /** Stand in for the credentials of the recorded requests. */
  readonly credentials: Readonly<Record<string, string>>
  /** Secrets by their labels in the recording. */
  readonly secrets: ReadonlyMap<string, string>
  readonly ids: IdMap
  readonly signal: AbortSignal
}

/** A recorded request, made again. */
export interface ReplayedRequest {
  /** The exchange as a recorder would have written it. */
  readonly exchange: RecordingExchange
  /** Null where no answer came. */
  readonly answer: WireResponse | null
}

/** Makes recorded requests again, with the ids and secrets of this run. */
export class Sender {
  readonly #options: SenderOptions
  readonly #masker = new Masker(new SecretNames())

  constructor(options: SenderOptions) {
    this.#options = options
  }

  /** The body of a recorded message as it is sent now; undefined without one, null where it was not recorded. */
  body({ body, text, base64, bytes, cut }: RecordingMessage): unknown {
    if (bytes === 0) return undefined
    if (cut || base64 !== undefined) return null
    return this.withSecrets(this.#options.ids.document(body !== undefined ? body : text))
  }

  withSecrets(value: unknown): unknown {
    if (typeof value === 'string')
      return value.replace(SECRET_PLACEHOLDERS, (label) => this.#options.secrets.get(label) ?? label)
    if (Array.isArray(value)) return value.map((one) => this.withSecrets(one))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.withSecrets(inner)]))
  }

  /**
   * @param body instead of the recorded one
   * @param target instead of the recorded one
   */
  async send(
    recorded: RecordingExchange,
    { body = this.body(recorded.request), target }: { body?: unknown; target?: string } = {},
  ): Promise<ReplayedRequest> {
    const { url, transport, ids, signal } = this.#options
    const path = target ?? String(this.withSecrets(ids.text(recorded.target)))
    const sent =
      body === undefined || body === null
        ? undefined
        : typeof body === 'string' && recorded.request.text !== undefined
          ? body
          : JSON.stringify(body)
    let answer: WireResponse | null = null
    let failure: string | undefined
    try {
      answer = await transport.send({
        method: recorded.method,
        url: url + path,
        headers: this.#headers(recorded.request),
        signal,
        ...defined({ body: sent }),
      })
    } catch (error) {
      if (!(error instanceof ConnectionFailed)) throw error
      failure = error.message
    }
    return {
      answer,
      exchange: {
        ...withoutAnswer(recorded),
        ...this.#answered(answer),
        ...defined({ failure }),
      },
    }
  }

  /** A request or an answer of this run as it would have been recorded. */
  message(headers: Readonly<Record<string, string>>, body: string | undefined): RecordingMessage {
    const bytes = Buffer.from(body ?? '')
    return makeRecordedMessage(recordedHeaders(headers), { excerpt: bytes, bytes: bytes.length }, this.#masker)
  }

  #answered(answer: WireResponse | null): Pick<RecordingExchange, 'status' | 'response'> {
    return answer
      ? { status: answer.status, response: this.message(answer.headers, answer.body) }
      : { status: null, response: null }
  }

  /** Credentials of the recording are no use here: others stand in for them where there were some. */
  #headers({ headers }: RecordingMessage): Record<string, string> {
    const plain = Object.entries(headers).filter(
      ([, value]) => !value.includes('***') || this.#options.secrets.has(value),
    )
    const own = Object.fromEntries(plain.map(([name, value]) => [name, String(this.withSecrets(value))]))
    const hadCredentials = 'authorization' in headers || 'x-auth-token' in headers
    return hadCredentials ? { ...own, ...this.#options.credentials } : own
  }
}

function withoutAnswer({ failure: _, ...rest }: RecordingExchange): Omit<RecordingExchange, 'failure'> {
  return rest
}
