import { createHash } from 'node:crypto'

/** One call of a script. `{name}` in path and body stands for what an earlier call's `keep` kept. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD'
  /** With its query, from the root. */
  readonly path: string
  /** Microversion; the newest that both speak unless told otherwise, none at all for null. */
  readonly version?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON; a string as it is. */
  readonly body?: unknown
  /** Keeps a member of the answer under a name. */
  readonly keep?: Readonly<Record<string, string>>
  /** Afterwards waits until this node is at rest, and compares the way there and the node. */
  readonly settle?: string
}

/** Calls that are made one after the other, of things that no other script knows. */
export interface Script {
  readonly name: string
  readonly calls: readonly Call[]
}

/** The same version 4 UUID for the same text, so that both sides can be given it. */
export function idOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export const get = (path: string, version?: string | null): Call => ({
  method: 'GET',
  path,
  ...(version === undefined ? {} : { version }),
})
export const post = (path: string, body: unknown, version?: string): Call => ({
  method: 'POST',
  path,
  body,
  ...(version === undefined ? {} : { version }),
})
export const put = (path: string, body: unknown, version?: string): Call => ({
  method: 'PUT',
  path,
  body,
  ...(version === undefined ? {} : { version }),
})
export const patch = (path: string, body: unknown, version?: string): Call => ({
  method: 'PATCH',
  path,
  body,
  ...(version === undefined ? {} : { version }),
})
export const del = (path: string, version?: string): Call => ({
  method: 'DELETE',
  path,
  ...(version === undefined ? {} : { version }),
})
/** A change of provision state, waited for. */
export const verb = (node: string, target: string, more: Readonly<Record<string, unknown>> = {}): Call => ({
  method: 'PUT',
  path: `/v1/nodes/${node}/states/provision`,
  body: { target, ...more },
  settle: node,
})
