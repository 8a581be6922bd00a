import { UserError, type ErrorCode } from '../../base/runtime/index.js'

/** An error of the command line, with which the command ends with exit code 2. */
export const usageError = (message: string, remedy: string, code: ErrorCode = 'usage'): UserError =>
  new UserError(code, message, { kind: 'usage', remedy })
