import { AsyncLocalStorage } from 'node:async_hooks'

/** A piece of work to which errors belong that nothing in it catches. */
export interface Owner {
  /** For messages: `the work of node ...`. */
  readonly name: string
  /** Ends the work with the error; false when it had ended before. */
  fail(error: unknown): boolean
}

/** There only while something traces owners, since it makes every promise of the process dearer by a third. */
let owners: AsyncLocalStorage<Owner> | undefined
let tracing = 0

/** Lets {@link ownerOfError} find the work that begins before this is disposed of. */
export function traceOwners(): Disposable {
  tracing++
  owners ??= new AsyncLocalStorage<Owner>()
  return {
    [Symbol.dispose]: () => {
      if (--tracing > 0) return
      owners?.disable()
      owners = undefined
    },
  }
}

/**
 * Runs work so that {@link ownerOfError} finds it: an error that is thrown in one of its event handlers, or a rejection that
 * nothing handles, rejects this promise instead of ending the process. Without {@link traceOwners} it only runs the work.
 */
export async function runContained<T>(name: string, work: () => Promise<T>): Promise<T> {
  if (!owners) return work()
  const storage = owners
  return new Promise<T>((resolve, reject) => {
    let ended = false
    const owner: Owner = {
      name,
      fail: (error) => {
        if (ended) return false
        ended = true
        reject(error as Error)
        return true
      },
    }
    void storage.run(owner, () =>
      work().then(
        (value) => {
          ended = true
          resolve(value)
        },
        (error: unknown) => {
          ended = true
          reject(error as Error)
        },
      ),
    )
  })
}

/** In a handler of `uncaughtException`: whose work threw the error; undefined for an error of the program itself. */
export const ownerOfError = (): Owner | undefined => owners?.getStore()
