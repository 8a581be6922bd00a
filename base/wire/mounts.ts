import type { Dispatch } from './wire-exchange.js'

/** Something found at a prefix, with what of the path is left after it (`''` or `/...`). */
export interface Mounted {
  readonly dispatch: Dispatch
  readonly prefix: string
  readonly rest: string
}

/**
 * Dispatches by prefix of whole path segments, the longest first: `/agents/a1` takes `/agents/a1/v1/commands` and not
 * `/agents/a10`. A prefix may carry an authority (`http://10.0.0.5:9999`), which is how the in-process transport uses
 * it. Ten thousand agents on one listener are a map look-up a segment, not a search.
 */
export class Mounts {
  readonly #byPrefix = new Map<string, Dispatch>()

  /** @throws Error when something is mounted there already */
  add(prefix: string, dispatch: Dispatch): Disposable {
    const key = prefix.replace(/\/+$/, '')
    if (this.#byPrefix.has(key)) throw new Error(`something is mounted at ${key || '/'} already`)
    this.#byPrefix.set(key, dispatch)
    return {
      [Symbol.dispose]: () => {
        if (this.#byPrefix.get(key) === dispatch) this.#byPrefix.delete(key)
      },
    }
  }

  /** @param path without the query string; an absolute URL where prefixes are URLs */
  find(path: string): Mounted | undefined {
    for (let end = path.length; end >= 0; end = path.lastIndexOf('/', end - 1)) {
      const prefix = path.slice(0, end)
      const dispatch = this.#byPrefix.get(prefix)
      if (dispatch) return { dispatch, prefix, rest: path.slice(end) }
      if (end === 0) break
    }
    return undefined
  }

  /** One dispatch for all: the prefix moves from the target to the base, so that links come out right. */
  readonly dispatch: Dispatch = (request) => {
    const queryAt = request.target.indexOf('?')
    const path = queryAt < 0 ? request.target : request.target.slice(0, queryAt)
    const query = queryAt < 0 ? '' : request.target.slice(queryAt)
    const found = this.find(path)
    if (!found) return Promise.resolve({ status: 404, headers: { 'content-type': 'text/plain' }, body: 'Not Found\n' })
    return found.dispatch({
      ...request,
      target: (found.rest || '/') + query,
      base: request.base + found.prefix,
    })
  }
}
