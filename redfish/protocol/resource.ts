import type { Machine } from '../../machine/index.js'
import type { WireRequest, WireResponse } from '../../wire/index.js'
import type { Credentials } from '../access/credentials.js'
import type { ServiceParts } from '../service-parts.js'
import type { Document } from './document.js'

/** A request to a resource, by a caller that may make it. */
export interface Call {
  readonly service: ServiceParts
  readonly request: WireRequest
  /** Values of the path's placeholders, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** The document of the body; empty without one. */
  readonly body: Document
  /** Query parameters; empty for other methods than GET. */
  readonly query: URLSearchParams
  /** The caller; undefined where no credentials were needed. */
  readonly caller: Credentials | undefined
  /** Whether a fault has the BMC confirm the change and leave it out. */
  readonly isLie: boolean
}

/** A call to a resource of one machine. */
export interface MachineCall extends Call {
  readonly machine: Machine
}

/** Answer to a call that changes something. Without one: 204, or 200 with the resource after a PATCH or PUT. */
export interface Outcome {
  status?: number
  /** Body; a resource that was created, or a task. */
  document?: Document
  headers?: Readonly<Record<string, string>>
}

type Read<C> = (call: C) => Document | undefined | Promise<Document | undefined>
type Change<C> = (call: C) => Outcome | void | Promise<Outcome | void>

interface Methods<C> {
  /** Undefined for a resource that does not exist. */
  get?: Read<C>
  /** Status of a read that is not 200, of a monitor of work under way. */
  statusOf?: (call: C) => number
  /** An answer that is no document: a stream, XML. */
  raw?: (call: C) => WireResponse
  patch?: Change<C>
  put?: Change<C>
  post?: Change<C>
  delete?: Change<C>
  /** The POST itself leaves its change out where {@link Call.isLie}, since its answer names what it made. */
  liesItself?: true
  /** Name of a read for faults and the journal, as in `read power`. */
  reads: string
  /** The same of a change. */
  changes?: string
}

/** A resource below `/redfish/v1`, and what can be done with it. */
export type Resource =
  | ({ kind: 'service'; path: string; open?: boolean } & Methods<Call>)
  /** One of a machine, whose id is the placeholder `{machine}`. */
  | ({ kind: 'machine'; path: string } & Methods<MachineCall>)

/** A resource of the service. @param path below `/redfish/v1` */
export const ofService = (path: string, methods: Methods<Call> & { open?: boolean }): Resource => ({
  kind: 'service',
  path,
  ...methods,
})

/** A resource of a machine. @param path below `/redfish/v1`, with `{machine}` in it */
export const ofMachine = (path: string, methods: Methods<MachineCall>): Resource => ({
  kind: 'machine',
  path,
  ...methods,
})

export type Method = 'get' | 'patch' | 'put' | 'post' | 'delete'

/** The methods of a resource, for the header `Allow`. */
export function allowed(resource: Resource): string {
  const methods = (['patch', 'put', 'post', 'delete'] as const).filter((method) => resource[method])
  const reads = resource.get || resource.raw ? ['GET', 'HEAD'] : []
  return [...reads, ...methods.map((method) => method.toUpperCase())].join(', ')
}
