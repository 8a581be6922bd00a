import { ClockIdleError, UserError, defined, type ErrorCode } from '../../base/runtime/index.js'
import { IronicError, IronicRefused } from '../../base/wire/index.js'

/** An error on its path between two threads, which keep neither the class nor the fields of one. */
export interface CrossingError {
  message: string
  stack: string | undefined
  cause?: CrossingError
  is:
    | { kind: 'user'; code: ErrorCode; remedy: string | undefined; severity: UserError['kind'] }
    | { kind: 'refused'; call: string; status: number }
    | { kind: 'ironic'; status: number; shape: IronicError['shape']; headers: Readonly<Record<string, string>> }
    | { kind: 'nothing-left' }
    | { kind: 'other'; name: string }
}

export function packError(error: unknown): CrossingError {
  if (!(error instanceof Error))
    return { message: String(error), stack: undefined, is: { kind: 'other', name: 'Error' } }
  return {
    message: error.message,
    stack: error.stack,
    is: errorKindOf(error),
    ...defined({ cause: error.cause === undefined ? undefined : packError(error.cause) }),
  }
}

export function unpackError({ message, stack, cause, is }: CrossingError): Error {
  const error = makeCrossedError(message, is, cause && unpackError(cause))
  // Where the shard was, which is what a caller wants to know.
  if (stack !== undefined) error.stack = stack
  return error
}

function errorKindOf(error: Error): CrossingError['is'] {
  if (error instanceof UserError) return { kind: 'user', code: error.code, remedy: error.remedy, severity: error.kind }
  if (error instanceof IronicRefused) return { kind: 'refused', call: error.call, status: error.status }
  if (error instanceof IronicError)
    return { kind: 'ironic', status: error.status, shape: error.shape, headers: error.headers }
  if (error instanceof ClockIdleError) return { kind: 'nothing-left' }
  return { kind: 'other', name: error.name }
}

function makeCrossedError(message: string, is: CrossingError['is'], cause: Error | undefined): Error {
  const causes = cause ? { cause } : {}
  switch (is.kind) {
    case 'user':
      return new UserError(is.code, message, {
        ...defined({ remedy: is.remedy }),
        kind: is.severity,
        ...causes,
      })
    case 'refused':
      return Object.assign(new IronicRefused(is.call, is.status, message), causes)
    case 'ironic':
      return Object.assign(new IronicError(is.status, message, is.shape, is.headers), causes)
    case 'nothing-left':
      return new ClockIdleError(message, causes)
    case 'other':
      return Object.assign(new Error(message, causes), { name: is.name })
  }
}
