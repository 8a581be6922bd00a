import { isObject } from '../../../base/runtime/index.js'
import { type RedfishDocument, type Reference } from './redfish-document.js'
import { messageRefusal } from './redfish-refusal.js'

/** Deepest `$levels` of `$expand`. */
export const MAX_EXPAND_LEVELS = 4
/** Members of an expanded collection that come in one answer; the rest has a link. */
const MAX_EXPANDED_MEMBERS = 500
/** Resources in one answer, after which a collection has a link to the rest, or stays a list of references. */
const MAX_ANSWER_RESOURCES = 2000
/** Resources after which other requests are answered: reading a thousand of them takes tenths of a second. */
const RESOURCES_PER_PAUSE = 50

/** Reads a resource by its path. Undefined where it cannot be read. */
export type ReadDocument = (path: string) => Promise<RedfishDocument | undefined>

const SUPPORTED = ['$expand', '$select', '$top', '$skip', 'only']

/**
 * Applies the query of a GET to its resource.
 *
 * @throws Refusal 400 for a value that cannot be used, 501 for an unsupported parameter that begins with `$`
 */
export async function applyQuery(
  document: RedfishDocument,
  query: URLSearchParams,
  fetch: ReadDocument,
): Promise<RedfishDocument> {
  checkSupported(query)
  const hasMembers = isCollection(document)
  let result = document
  if (query.has('only')) {
    const value = query.get('only')!
    if (value !== '')
      throw messageRefusal(400, 'QueryParameterValueFormatError', [value, 'only'], { resolution: 'Use no value.' })
    if (!hasMembers) throw messageRefusal(400, 'QueryNotSupportedOnResource')
    const [single, ...others] = document['Members'] as Reference[]
    if (single && others.length === 0) result = (await fetch(single['@odata.id'])) ?? document
  }
  if (query.has('$top') || query.has('$skip')) {
    if (!hasMembers) throw messageRefusal(400, 'QueryNotSupportedOnResource')
    result = paged(result, countOf(query, '$skip') ?? 0, countOf(query, '$top'), query)
  }
  const expand = query.get('$expand')
  if (expand !== null) {
    result = await new Expansion(expandOf(expand), fetch).document(result, query)
  }
  const select = query.get('$select')
  return select === null ? result : selectProperties(result, selectionOf(select))
}

function checkSupported(query: URLSearchParams): void {
  for (const name of query.keys())
    if (name.startsWith('$') && !SUPPORTED.includes(name))
      throw messageRefusal(501, 'QueryParameterUnsupported', [name], { resolution: `Use ${SUPPORTED.join(', ')}.` })
}

/** @throws Refusal 501 for a query of a stream or another text, which no parameter changes */
export function refuseQuery(query: URLSearchParams): void {
  const name = [...query.keys()].find((each) => each.startsWith('$') || each === 'only')
  if (name !== undefined)
    throw messageRefusal(501, 'QueryParameterUnsupported', [name], { resolution: 'Read it without a query.' })
}

function countOf(query: URLSearchParams, name: '$top' | '$skip'): number | undefined {
  const value = query.get(name)
  if (value === null) return undefined
  if (!/^-?\d+$/.test(value)) throw messageRefusal(400, 'QueryParameterValueTypeError', [value, name])
  if (Number(value) < 0) throw messageRefusal(400, 'QueryParameterOutOfRange', [value, name, '0 or more'])
  return Number(value)
}

function paged(
  document: RedfishDocument,
  skip: number,
  top: number | undefined,
  query: URLSearchParams,
): RedfishDocument {
  const members = document['Members'] as Reference[]
  const end = top === undefined ? members.length : skip + top
  const page = { ...document, Members: members.slice(skip, end) }
  return end >= members.length || top === 0 ? page : { ...page, ...linkFrom(document, query, end) }
}

/** The link to the rest of a collection. @param skip members before it */
function linkFrom(document: RedfishDocument, query: URLSearchParams, skip: number): RedfishDocument {
  const next = new URLSearchParams(query)
  next.set('$skip', String(skip))
  return { 'Members@odata.nextLink': `${String(document['@odata.id'])}?${decodeURIComponent(next.toString())}` }
}

/** References to replace by their resources: `.` those outside of `Links`, `~` those in `Links`, `*` all; so many levels deep. */
interface Expand {
  kind: '.' | '~' | '*'
  levels: number
}

function expandOf(value: string): Expand {
  const [, kind, levels = '1'] = /^([.~*])(?:\(\$levels=(\d+)\))?$/.exec(value) ?? []
  if (kind === undefined)
    throw messageRefusal(400, 'QueryParameterValueFormatError', [value, '$expand'], {
      resolution: 'Use *, . or ~, with ($levels=1) after it.',
    })
  const count = Number(levels)
  if (count < 1 || count > MAX_EXPAND_LEVELS)
    throw messageRefusal(400, 'QueryParameterOutOfRange', [levels, '$expand', `1 to ${MAX_EXPAND_LEVELS}`])
  return { kind: kind as Expand['kind'], levels: count }
}

/** Puts resources in place of references, as many as one answer may have. */
class Expansion {
  readonly #kind: Expand['kind']
  readonly #levels: number
  readonly #fetch: ReadDocument
  #count = 0

  constructor({ kind, levels }: Expand, fetch: ReadDocument) {
    this.#kind = kind
    this.#levels = levels
    this.#fetch = fetch
  }

  /** @param query of the request, which a link to the rest repeats */
  async document(document: RedfishDocument, query: URLSearchParams): Promise<RedfishDocument> {
    return isCollection(document)
      ? this.#collection(document, this.#levels, query)
      : ((await this.#value(document, this.#levels, 'body')) as RedfishDocument)
  }

  async #value(value: unknown, levels: number, within: 'body' | 'links'): Promise<unknown> {
    if (levels === 0) return value
    if (Array.isArray(value)) {
      const items: unknown[] = []
      for (const item of value) items.push(await this.#value(item, levels, within))
      return items
    }
    if (!isObject(value)) return value
    if (isReference(value)) return this.#reference(value, levels, within)
    const result: RedfishDocument = {}
    for (const [name, item] of Object.entries(value)) {
      const inside = name === 'Links' ? 'links' : within
      // References to settings and to what a resource was made of stay as they are.
      result[name] = name.startsWith('@') ? item : await this.#value(item, levels, inside)
    }
    return result
  }

  async #reference(reference: Reference, levels: number, within: 'body' | 'links'): Promise<unknown> {
    const path = reference['@odata.id']
    const isWanted = this.#kind === '*' || (this.#kind === '~') === (within === 'links')
    const found = isWanted && !path.includes('#') ? await this.#read(path) : undefined
    if (!found) return reference
    if (!isCollection(found)) return this.#value(found, levels - 1, 'body')
    const rest = new URLSearchParams({ $expand: `${this.#kind}($levels=${levels - 1})` })
    return levels > 1 && this.#count < MAX_ANSWER_RESOURCES ? this.#collection(found, levels - 1, rest) : found
  }

  /** Expands members until the page or the answer is full. */
  async #collection(document: RedfishDocument, levels: number, query: URLSearchParams): Promise<RedfishDocument> {
    const { Members, ...rest } = document
    const all = Members as Reference[]
    const members: unknown[] = []
    for (const member of all) {
      if (members.length === MAX_EXPANDED_MEMBERS || this.#count >= MAX_ANSWER_RESOURCES) break
      members.push(await this.#reference(member, levels, 'body'))
    }
    const result = { ...rest, Members: members }
    if (members.length === all.length) return result
    return { ...result, ...linkFrom(document, query, (countOf(query, '$skip') ?? 0) + members.length) }
  }

  async #read(path: string): Promise<RedfishDocument | undefined> {
    if (++this.#count % RESOURCES_PER_PAUSE === 0) await new Promise((resolve) => setImmediate(resolve))
    return this.#fetch(path)
  }
}

const isCollection = (document: RedfishDocument): boolean => Array.isArray(document['Members'])

const isReference = (value: RedfishDocument): value is RedfishDocument & Reference =>
  typeof value['@odata.id'] === 'string' && Object.keys(value).length === 1

/** Names by their paths, as Status/Health. */
type Selection = Map<string, Selection>

function selectionOf(value: string): Selection {
  const selection: Selection = new Map()
  for (const path of value.split(',')) {
    const parts = path.trim().split('/')
    if (parts.some((part) => part === ''))
      throw messageRefusal(400, 'QueryParameterValueFormatError', [value, '$select'], {
        resolution: 'Name properties with commas between them: Id,Status/Health.',
      })
    let at = selection
    for (const part of parts) {
      const below: Selection = at.get(part) ?? new Map()
      at.set(part, below)
      at = below
    }
  }
  return selection
}

const ALWAYS = ['@odata.id', '@odata.type', '@odata.context', '@odata.etag', 'Members@odata.nextLink']

function selectProperties(document: RedfishDocument, selection: Selection): RedfishDocument {
  const result: RedfishDocument = {}
  for (const [name, value] of Object.entries(document)) {
    const below = selection.get(name)
    if (below) {
      const isPart = below.size > 0
      if (isPart && Array.isArray(value))
        result[name] = value.map((item: unknown) => (isObject(item) ? selectProperties(item, below) : item))
      else result[name] = isPart && isObject(value) ? selectProperties(value, below) : value
    } else if (ALWAYS.includes(name)) result[name] = value
  }
  return result
}
