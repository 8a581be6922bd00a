import { UserError } from '../../base/runtime/index.js'
import { ERRORS } from './errors.js'

/** A failure of this room, with the remedy of its catalogue unless there is a better one. */
export const recordingError = (
  code: keyof typeof ERRORS,
  message: string,
  options: { remedy?: string; cause?: unknown; kind?: 'usage' | 'failure' } = {},
): UserError => new UserError(code, message, { remedy: ERRORS[code].remedy, ...options })
