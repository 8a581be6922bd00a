import { createHash } from 'node:crypto'
import { defined } from '../../../../base/runtime/index.js'

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
  /** The status that both sides must answer for the script to make sense. */
  readonly must?: number
  /** Afterwards waits until what this path leads to is at rest, and compares the states on the way there and how it rests. */
  readonly settle?: string
}

/**
 * Calls that are made one after the other, of things that no other script knows. Where the two end in different states,
 * what comes after says nothing and is not compared; an array within stands apart, so that only its own rest is dropped.
 */
export interface Script {
  readonly name: string
  readonly calls: readonly (Call | readonly Call[])[]
}

/** The same version 4 UUID for the same text, so that both sides can be given it. */
export function idOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

type Version = string | null | undefined
const call = (method: Call['method'], path: string, version: Version, body?: unknown): Call => ({
  method,
  path,
  ...defined({ version, body }),
})

export const get = (path: string, version?: Version): Call => call('GET', path, version)
export const del = (path: string, version?: Version): Call => call('DELETE', path, version)
export const post = (path: string, body: unknown, version?: Version): Call => call('POST', path, version, body)
export const put = (path: string, body: unknown, version?: Version): Call => call('PUT', path, version, body)
export const patch = (path: string, body: unknown, version?: Version): Call => call('PATCH', path, version, body)

/** The operations of a PATCH. */
export const add = (path: string, value: unknown) => ({ op: 'add', path, value })
export const set = (path: string, value: unknown) => ({ op: 'replace', path, value })
export const remove = (path: string) => ({ op: 'remove', path })

/** A call that moves a node, waited for. */
export const rested = (node: string, moves: Call): Call => ({ ...moves, settle: `/v1/nodes/${node}` })

/** A change of provision state, waited for. */
export const verb = (node: string, target: string, more: Readonly<Record<string, unknown>> = {}): Call =>
  rested(node, put(`/v1/nodes/${node}/states/provision`, { target, ...more }))

/** The same where what follows is built on it. */
export const led = (...args: Parameters<typeof verb>): Call => ({ ...verb(...args), must: 202 })

/** Everything of a node is fake, so that nothing waits for an agent. */
export const FAKES = {
  deploy_interface: 'fake',
  inspect_interface: 'fake',
  rescue_interface: 'fake',
  raid_interface: 'fake',
  management_interface: 'fake',
  power_interface: 'fake',
  bios_interface: 'fake',
  boot_interface: 'fake',
} as const

/** Enrols a node; its UUID is `idOf(name)`. */
export const enrol = (name: string, more: Readonly<Record<string, unknown>> = {}): Call => ({
  ...post('/v1/nodes', { driver: 'fake-hardware', name, uuid: idOf(name), ...more }),
  must: 201,
})

/** Deletes a node in any state. */
export const away = (name: string): readonly Call[] => [
  put(`/v1/nodes/${idOf(name)}/maintenance`, {}),
  del(`/v1/nodes/${idOf(name)}`),
]
