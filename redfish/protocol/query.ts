import { isObject } from '../../runtime/index.js'
import { type Document, type Reference } from './document.js'
import { refused } from './refusal.js'

/** Deepest `$levels` of `$expand`. */
export const MOST_LEVELS = 4
/** Members of an expanded collection that come in one answer; the rest has a link. */
const MOST_EXPANDED = 500

/** Reads a resource by its path. Undefined where it cannot be read. */
export type Fetch = (path: string) => Promise<Document | undefined>

const SUPPORTED = ['$expand', '$select', '$top', '$skip', 'only']

/**
 * Applies the query of a GET to its resource.
 *
 * @throws Refusal 400 for a value that cannot be used, 501 for an unsupported parameter that begins with `$`
 */
export async function queried(document: Document, query: URLSearchParams, fetch: Fetch): Promise<Document> {
  for (const name of query.keys())
    if (name.startsWith('$') && !SUPPORTED.includes(name))
      throw refused(501, 'QueryParameterUnsupported', [name], { resolution: `Use ${SUPPORTED.join(', ')}.` })
  const isCollection = Array.isArray(document['Members'])
  let result = document
  if (query.has('only')) {
    const value = query.get('only')!
    if (value !== '')
      throw refused(400, 'QueryParameterValueFormatError', [value, 'only'], { resolution: 'Use no value.' })
    if (!isCollection) throw refused(400, 'QueryNotSupportedOnResource')
    const [single, ...others] = document['Members'] as Reference[]
    if (single && others.length === 0) result = (await fetch(single['@odata.id'])) ?? document
  }
  if (query.has('$top') || query.has('$skip')) {
    if (!isCollection) throw refused(400, 'QueryNotSupportedOnResource')
    result = paged(result, countOf(query, '$skip') ?? 0, countOf(query, '$top'), query)
  }
  const expand = query.get('$expand')
  if (expand !== null) {
    const { kind, levels } = expandOf(expand)
    const members = result['Members']
    if (Array.isArray(members) && members.length > MOST_EXPANDED) {
      const skipped = countOf(query, '$skip') ?? 0
      result = paged(document, skipped, MOST_EXPANDED, query)
    }
    result = (await expanded(result, kind, levels, fetch)) as Document
  }
  const select = query.get('$select')
  return select === null ? result : selected(result, selectionOf(select))
}

function countOf(query: URLSearchParams, name: '$top' | '$skip'): number | undefined {
  const value = query.get(name)
  if (value === null) return undefined
  if (!/^-?\d+$/.test(value)) throw refused(400, 'QueryParameterValueTypeError', [value, name])
  if (Number(value) < 0) throw refused(400, 'QueryParameterOutOfRange', [value, name, '0 or more'])
  return Number(value)
}

function paged(document: Document, skip: number, top: number | undefined, query: URLSearchParams): Document {
  const members = document['Members'] as Reference[]
  const end = top === undefined ? members.length : skip + top
  const { Members: _, ...rest } = document
  const page = { ...rest, Members: members.slice(skip, end) }
  if (end >= members.length || top === 0) return page
  const next = new URLSearchParams(query)
  next.set('$skip', String(end))
  const text = next.toString().replaceAll('%24', '$')
  return { ...page, 'Members@odata.nextLink': `${String(document['@odata.id'])}?${text}` }
}

function expandOf(value: string): { kind: '.' | '~' | '*'; levels: number } {
  const [, kind, levels = '1'] = /^([.~*])(?:\(\$levels=(\d+)\))?$/.exec(value) ?? []
  if (kind === undefined)
    throw refused(400, 'QueryParameterValueFormatError', [value, '$expand'], {
      resolution: 'Use *, . or ~, with ($levels=1) after it.',
    })
  const count = Number(levels)
  if (count < 1 || count > MOST_LEVELS)
    throw refused(400, 'QueryParameterOutOfRange', [levels, '$expand', `1 to ${MOST_LEVELS}`])
  return { kind: kind as '.', levels: count }
}

/** Puts resources in place of references: `.` those outside of `Links`, `~` those in `Links`, `*` all. */
async function expanded(
  value: unknown,
  kind: '.' | '~' | '*',
  levels: number,
  fetch: Fetch,
  within: 'body' | 'links' = 'body',
): Promise<unknown> {
  if (levels === 0) return value
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) items.push(await expanded(item, kind, levels, fetch, within))
    return items
  }
  if (!isObject(value)) return value
  const names = Object.keys(value)
  if (names.length === 1 && names[0] === '@odata.id') {
    const isWanted = kind === '*' || (kind === '~') === (within === 'links')
    const path = String(value['@odata.id'])
    const found = isWanted && !path.includes('#') ? await fetch(path) : undefined
    return found === undefined ? value : expanded(found, kind, levels - 1, fetch)
  }
  const result: Document = {}
  for (const name of names) {
    const inside = name === 'Links' ? 'links' : within
    // References to settings and to what a resource was made of stay as they are.
    result[name] = name.startsWith('@') ? value[name] : await expanded(value[name], kind, levels, fetch, inside)
  }
  return result
}

/** Names by their paths, as Status/Health. */
type Selection = Map<string, Selection>

function selectionOf(value: string): Selection {
  const selection: Selection = new Map()
  for (const path of value.split(',')) {
    const parts = path.trim().split('/')
    if (parts.some((part) => part === ''))
      throw refused(400, 'QueryParameterValueFormatError', [value, '$select'], {
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

function selected(document: Document, selection: Selection): Document {
  const result: Document = {}
  for (const [name, value] of Object.entries(document)) {
    const below = selection.get(name)
    if (below) {
      const isPart = below.size > 0
      if (isPart && Array.isArray(value))
        result[name] = value.map((item: unknown) => (isObject(item) ? selected(item, below) : item))
      else result[name] = isPart && isObject(value) ? selected(value, below) : value
    } else if (ALWAYS.includes(name)) result[name] = value
  }
  return result
}
