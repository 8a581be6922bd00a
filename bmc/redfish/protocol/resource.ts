import type { Machine } from '../../../machine/index.js'
import type { WireRequest, WireResponse } from '../../../base/wire/index.js'
import type { RedfishCredentials } from '../access/redfish-credentials.js'
import type { ServiceParts } from '../service-parts.js'
import type { RedfishDocument } from './redfish-document.js'

/** A request to a resource, by a caller that may make it. */
export interface RedfishCall {
  readonly service: ServiceParts
  readonly request: WireRequest
  /** Values of the path's placeholders, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** The document of the body; empty without one. */
  readonly body: RedfishDocument
  /** Query parameters; empty for other methods than GET. */
  readonly query: URLSearchParams
  /** The caller; undefined where no credentials were needed. */
  readonly caller: RedfishCredentials | undefined
  /** True if a fault has the BMC confirm the change and leave it out. */
  readonly isLie: boolean
}

/** Folder of the resources that a system and its manager both have. */
export type ResourceParent = 'Systems' | 'Managers'

/** A call to a resource of one machine. */
export interface MachineCall extends RedfishCall {
  readonly machine: Machine
}

/** Answer to a call that changes something. Without one: 204, or 200 with the resource after a PATCH or PUT. */
export interface RedfishOutcome {
  status?: number
  /** Body; a resource that was created, or a task. */
  document?: RedfishDocument
  headers?: Readonly<Record<string, string>>
}

type ReadHandler<C> = (call: C) => RedfishDocument | undefined | Promise<RedfishDocument | undefined>
type ChangeHandler<C> = (call: C) => RedfishOutcome | void | Promise<RedfishOutcome | void>

interface ResourceMethods<C> {
  /** Undefined for a resource that does not exist. */
  get?: ReadHandler<C>
  /** Status of a read that is not 200, of a monitor of work under way. */
  statusOf?: (call: C) => number
  /** An answer that is no document: a stream, XML. */
  raw?: (call: C) => WireResponse
  patch?: ChangeHandler<C>
  put?: ChangeHandler<C>
  post?: ChangeHandler<C>
  delete?: ChangeHandler<C>
  /** The POST itself leaves its change out where {@link RedfishCall.isLie}, since its answer names what it made. */
  liesItself?: true
  /** Name of a read for faults and the journal, as in `read power`. */
  reads: string
  /** The same of a change. */
  changes?: string
}

/** A resource below `/redfish/v1`, and what can be done with it. */
export type RedfishResource =
  | ({ kind: 'service'; path: string; open?: boolean } & ResourceMethods<RedfishCall>)
  /** One of a machine, whose id is the placeholder `{machine}`. */
  | ({ kind: 'machine'; path: string } & ResourceMethods<MachineCall>)

/** A resource of the service. @param path below `/redfish/v1` */
export const ofService = (
  path: string,
  methods: ResourceMethods<RedfishCall> & { open?: boolean },
): RedfishResource => ({
  kind: 'service',
  path,
  ...methods,
})

/** A resource of a machine. @param path below `/redfish/v1`, with `{machine}` in it */
export const ofMachine = (path: string, methods: ResourceMethods<MachineCall>): RedfishResource => ({
  kind: 'machine',
  path,
  ...methods,
})

export type ResourceMethod = 'get' | 'patch' | 'put' | 'post' | 'delete'

/** The methods of a resource, for the header `Allow`. */
export function allowedMethods(resource: RedfishResource): string {
  const methods = (['patch', 'put', 'post', 'delete'] as const).filter((method) => resource[method])
  const reads = resource.get || resource.raw ? ['GET', 'HEAD'] : []
  return [...reads, ...methods.map((method) => method.toUpperCase())].join(', ')
}
