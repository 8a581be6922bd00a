import type { Machine } from '../../../machine/index.js'
import type { WireRequest, WireResponse } from '../../../base/wire/index.js'
import type { RedfishCredentials } from '../access/redfish-credentials.js'
import type { SpokenDialect } from '../dialects/spoken-dialect.js'
import type { DumpedAnswer } from '../dumps/dumped-answer.js'
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
  /** The BMC that answers. */
  readonly spoken: SpokenDialect
  /** The dump that it answers with. */
  readonly dumped?: DumpedAnswer
  /** Methods that the resource has, for the header `Allow`. */
  readonly allow: string
  /** True if a fault has the BMC confirm the change and leave it out. */
  readonly isLie: boolean
}

/** Folder of the resources that a system and its manager both have. */
export type ResourceParent = 'Systems' | 'Managers'

/** A call to a resource of one machine. */
export interface MachineCall extends RedfishCall {
  readonly machine: Machine
}

/** The parts of a call by which a BMC has a method or not. */
export type OfferedCall = Pick<RedfishCall, 'params' | 'spoken'>

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
  /** False for a method that the BMC of a machine does not have here. By default it has all. */
  offers?: (call: OfferedCall, method: ResourceMethod) => boolean
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

/** The methods of a resource. */
export function methodsOf(resource: RedfishResource): ResourceMethod[] {
  const methods = (['patch', 'put', 'post', 'delete'] as const).filter((method) => resource[method])
  return resource.get || resource.raw ? ['get', ...methods] : methods
}

/** The methods that the BMC of a machine has of them. */
export function offeredMethods(resource: RedfishResource, call: OfferedCall): ResourceMethod[] {
  const { offers } = resource
  return offers ? methodsOf(resource).filter((method) => offers(call, method)) : methodsOf(resource)
}

/** Methods for the header `Allow`. */
export const allowHeader = (methods: readonly ResourceMethod[]): string =>
  methods.map((method) => (method === 'get' ? 'GET, HEAD' : method.toUpperCase())).join(', ')
