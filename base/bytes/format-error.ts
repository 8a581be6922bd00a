import { UserError, type ErrorCode } from '../runtime/index.js'

/**
 * Bytes are not of the format that they should be. Where coreos-installer reads the format too, the message is its
 * sentence; causes read as a chain, outermost first.
 */
export class FormatError extends UserError {
  override name = 'FormatError'

  constructor(message: string, cause?: unknown, code: ErrorCode = 'file-format') {
    super(code, message, cause === undefined ? {} : { cause })
  }

  /** Runs `work`; an error of this class with `activity` as its message wraps each failure. */
  static async during<T>(activity: string, work: () => Promise<T> | T): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      throw new this(activity, cause)
    }
  }
}
