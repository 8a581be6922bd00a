import { UserError, defined } from '../../base/runtime/index.js'

/** Objects that are known to be data. Thousands of nodes have the same steps. */
const DATA = new WeakSet<object>()

/**
 * Refuses what is not data, since another thread gets a copy.
 *
 * @throws UserError `not-across-threads`
 */
export function checkData(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'function' || typeof value === 'symbol') throw notData(name)
    return
  }
  if (DATA.has(value)) return
  try {
    structuredClone(value)
  } catch (cause) {
    throw notData(name, cause)
  }
  DATA.add(value)
}

const notData = (name: string, cause?: unknown): UserError =>
  new UserError('not-across-threads', `${name} holds what another thread cannot get a copy of, such as a function`, {
    kind: 'usage',
    remedy: 'give plain data, or make a lab without threads',
    ...defined({ cause }),
  })
