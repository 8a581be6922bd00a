import { BMC_DIALECTS, dialectOf, type BmcDialect } from '../../dialects/index.js'
import { isObject } from '../../../base/runtime/index.js'
import type { Machine } from '../../../machine/index.js'
import type { RedfishDocument } from '../protocol/redfish-document.js'
import { BASE_VERSION, baseMessage, type RedfishMessage } from '../protocol/redfish-messages.js'
import { errorBody } from '../protocol/redfish-refusal.js'
import type { ServedMachines } from '../served-machines.js'
import { BmcPaths } from './bmc-paths.js'
import { isAtOrBelow } from './resource-pattern.js'
import { shapeDocument } from './shape-document.js'

/** How a BMC answers a request: what resources say, in its own form. */
export class SpokenDialect {
  readonly dialect: BmcDialect
  readonly #paths: BmcPaths | undefined

  /** @param paths undefined where no machine of the service has a BMC of its own */
  constructor(dialect: BmcDialect, paths: BmcPaths | undefined) {
    this.dialect = dialect
    this.#paths = paths
  }

  /** A resource as the BMC has it. */
  document(document: RedfishDocument): RedfishDocument {
    const paths = this.#paths
    if (!paths) return document
    const { absent } = this.dialect.resources
    const present = absent.length === 0 ? document : withoutAbsent(document, absent)
    const translated = mapTexts(present, (text) => paths.shown(text))
    const own = document['@odata.id']
    const shown = translated['@odata.id']
    const isNamedByPath = typeof own === 'string' && document['Id'] === lastPart(own)
    const named = isNamedByPath && typeof shown === 'string' ? { ...translated, Id: lastPart(shown) } : translated
    return shapeDocument(this.dialect, named)
  }

  /** An answer in the form in which the BMC lists members, which only a client reads any more. */
  answer(document: RedfishDocument): RedfishDocument {
    const { members, noMembers } = this.dialect.paths
    const listed: unknown = document['Members']
    if (!Array.isArray(listed) || (members === 'references' && noMembers === 'list')) return document
    if (listed.length === 0) return noMembers === 'null' ? { ...document, Members: null } : document
    if (members === 'references') return document
    return { ...document, Members: listed.map((each: unknown) => (isReference(each) ? each['@odata.id'] : each)) }
  }

  /** A path as the BMC writes it. */
  path(path: string): string {
    return this.#paths?.shown(path) ?? path
  }

  /** The body of a request with the paths that resources have. */
  body(body: RedfishDocument): RedfishDocument {
    const paths = this.#paths
    return paths ? mapTexts(body, (text) => paths.modelled(text)) : body
  }

  /** The body of an error. */
  error(messages: readonly RedfishMessage[]): RedfishDocument {
    const { errors } = this.dialect
    const plain = errorBody(messages.map((each) => this.#message(each)))
    if (errors === BMC_DIALECTS.standard.errors) return plain
    const { code, message } = plain.error
    const listed = plain.error['@Message.ExtendedInfo'].map((each) => chosenMembers(each, errors.members))
    return {
      error: {
        code: errors.code ?? code.replace(`Base.${BASE_VERSION}`, errors.base),
        message: errors.message ?? message,
        '@Message.ExtendedInfo': errors.info === 'object' && listed.length === 1 ? listed[0] : listed,
      },
    }
  }

  /** The body that says of a change that it was made. */
  get success(): RedfishDocument {
    return this.error([baseMessage('Success')])
  }

  #message(message: RedfishMessage): RedfishMessage {
    const { base, ids } = this.dialect.errors
    const standard = `Base.${BASE_VERSION}.`
    if (!message.MessageId.startsWith(standard)) return message
    const key = message.MessageId.slice(standard.length)
    return { ...message, MessageId: (Object.hasOwn(ids, key) ? ids[key] : undefined) ?? `${base}.${key}` }
  }
}

const chosenMembers = (message: RedfishMessage, members: readonly string[] | null): RedfishDocument =>
  Object.fromEntries(Object.entries(message).filter(([name]) => members === null || members.includes(name)))

const lastPart = (path: string): string => decodeURIComponent(path.replace(/\/+$/, '').split('/').at(-1) ?? '')

const isReference = (value: unknown): value is { '@odata.id': string } =>
  isObject(value) && typeof value['@odata.id'] === 'string' && Object.keys(value).length === 1

/** A document without references to what the BMC does not have. */
function withoutAbsent(document: RedfishDocument, absent: readonly string[]): RedfishDocument {
  const leads = (value: unknown): boolean =>
    isReference(value) &&
    absent.some((pattern) => isAtOrBelow(value['@odata.id'].replace(/^\/redfish\/v1|#.*$/g, ''), pattern))
  const cleaned = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter((each) => !leads(each)).map(cleaned)
    return isObject(value) && !isReference(value) ? withoutAbsent(value, absent) : value
  }
  const entries = Object.entries(document).filter(([, value]) => !leads(value))
  const left: RedfishDocument = Object.fromEntries(entries.map(([name, value]) => [name, cleaned(value)]))
  const { Members: members } = left
  return Array.isArray(members) ? { ...left, 'Members@odata.count': members.length } : left
}

/** A document in which every path is another. */
export function mapTexts(document: RedfishDocument, map: (text: string) => string): RedfishDocument {
  const mapped = (value: unknown): unknown => {
    if (typeof value === 'string') return value.startsWith('/redfish/v1/') ? map(value) : value
    if (Array.isArray(value)) return value.map(mapped)
    return isObject(value) ? mapTexts(value, map) : value
  }
  return Object.fromEntries(Object.entries(document).map(([name, value]) => [name, mapped(value)]))
}

const STANDARD_DIALECT = new SpokenDialect(BMC_DIALECTS.standard, undefined)

const hasOwnBmc = ({ spec }: Machine): boolean => spec.dialect !== undefined

/** The dialect that all machines of a service have; `standard` where they differ, or there are none. */
export function commonDialect(machines: readonly Machine[]): BmcDialect {
  const [first, ...others] = machines
  if (!first || !hasOwnBmc(first)) return BMC_DIALECTS.standard
  const dialect = dialectOf(first.spec)
  return others.every(({ spec }) => dialectOf(spec) === dialect) ? dialect : BMC_DIALECTS.standard
}

/** The dialect of a request: that of its machine, or else that of the service. */
export function spokenDialectOf(machines: ServedMachines, machine: Machine | undefined): SpokenDialect {
  if (machine)
    return hasOwnBmc(machine) ? new SpokenDialect(dialectOf(machine.spec), new BmcPaths(machines)) : STANDARD_DIALECT
  const all = machines.list()
  return all.some(hasOwnBmc) ? new SpokenDialect(commonDialect(all), new BmcPaths(machines)) : STANDARD_DIALECT
}
