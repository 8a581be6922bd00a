import { literalPattern } from '../../../base/runtime/index.js'

/** Where the links of an Ironic lead, and where they are to lead. */
export interface LinkBases {
  /** URL of the Ironic, without a slash at its end. */
  readonly from: string
  /** URL by which the client reached the recorder, without a slash at its end. */
  readonly to: string
}

/** A beginning that the next bytes may complete to a link is not longer. */
const MAX_LINK_START_LENGTH = 2048

/** An Ironic may name itself by another host than it is reached by (`[api]public_endpoint`), so the path tells its links. */
const ownUrls = (from: string): string =>
  `https?://[^/"\\\\?#\\s]+${literalPattern(new URL(from).pathname.replace(/\/$/, ''))}(?=/v1[/?"]|/v1$)`

/** A `Location` header that leads through the recorder. */
export function rewrittenLocation(location: string, { from, to }: LinkBases): string {
  if (location.startsWith(`${from}/`)) return to + location.slice(from.length)
  return location.replace(new RegExp(`^${ownUrls(from)}`), () => to)
}

/**
 * Rewrites `href` and `next` of a JSON document as its bytes pass by. All bytes that are not part of such a link stay as
 * they are.
 */
export class LinkRewriter {
  readonly #links: RegExp
  readonly #to: string
  #rest = ''

  constructor({ from, to }: LinkBases) {
    this.#to = to
    this.#links = new RegExp(`("(?:href|next)"\\s*:\\s*")(?:${literalPattern(from)}(?=[/"])|${ownUrls(from)})`, 'g')
  }

  push(chunk: Buffer): Buffer {
    // One character a byte.
    const text = (this.#rest + chunk.toString('latin1')).replace(this.#links, (_, before: string) => before + this.#to)
    // A link that is not whole yet has three quotation marks at most.
    let from = text.length
    for (let marks = 0; marks < 3 && from >= 0; marks++) from = from === 0 ? -1 : text.lastIndexOf('"', from - 1)
    const hold = Math.max(from, text.length - MAX_LINK_START_LENGTH, 0)
    this.#rest = text.slice(hold)
    return Buffer.from(text.slice(0, hold), 'latin1')
  }

  /** The last bytes. */
  end(): Buffer {
    const rest = Buffer.from(this.#rest, 'latin1')
    this.#rest = ''
    return rest
  }
}
