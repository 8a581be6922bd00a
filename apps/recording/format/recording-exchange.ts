/** The version of the file format that this program writes, and the only one that it reads. */
export const FORMAT_VERSION = 1

/** A side of an exchange. */
export type Party = 'client' | 'ironic' | 'agent'

/** The first line of a recording. */
export interface RecordingHeader {
  readonly recording: 'ironstage'
  readonly version: typeof FORMAT_VERSION
  /** ISO 8601, UTC. */
  readonly startedAt: string
  /** URL of the recorded Ironic, without credentials. */
  readonly upstream: string
  readonly program: string
}

/** A request or an answer. At most one of `body`, `text` and `base64` is there; an empty body has none. */
export interface RecordingMessage {
  /** Lower-case names; several of one name are joined. */
  readonly headers: Readonly<Record<string, string>>
  /** The document, where it is JSON. */
  readonly body?: unknown
  readonly text?: string
  /** Bytes that are not UTF-8. */
  readonly base64?: string
  /** Length of the body as it was sent. */
  readonly bytes: number
  /** The body is larger than the limit: of a text its beginning was kept, of JSON and of bytes nothing. */
  readonly cut?: true
}

/** A line of a recording. */
export interface RecordingExchange {
  /** Counts from 1, in the order in which requests began. Lines are in the order in which exchanges ended. */
  readonly seq: number
  /** When the request began; ISO 8601, UTC. */
  readonly at: string
  /** Milliseconds from there to the end of the answer. */
  readonly ms: number
  readonly from: Party
  readonly to: Party
  /** UUID of the node, in exchanges with its agent where Ironic asks. */
  readonly node?: string
  readonly method: string
  /** Path and query, below the URL of the one who answers. */
  readonly target: string
  readonly request: RecordingMessage
  /** Null where no answer began. */
  readonly status: number | null
  readonly response: RecordingMessage | null
  /** Why the exchange did not come to its end. */
  readonly failure?: string
}

/** A recording in memory; exchanges in the order in which they began. */
export interface Recording {
  /** File name, for messages. */
  readonly name: string
  readonly header: RecordingHeader
  readonly exchanges: readonly RecordingExchange[]
  /** Sequence numbers without a line: exchanges that were under way at the end, or that could not be written. */
  readonly missing: readonly number[]
  /** The last line was cut off, and was left out. */
  readonly isCut: boolean
}
