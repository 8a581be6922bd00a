import { FormatError } from '../base/bytes/index.js'

/** A live image, or a request about one, that coreos-installer refuses. The message is coreos-installer's. */
export class LiveImageError extends FormatError {
  override name = 'LiveImageError'

  constructor(message: string, cause?: unknown) {
    super(message, cause, 'live-image')
  }
}
