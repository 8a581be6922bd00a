import { defined } from '../../runtime/index.js'
import type { KindEntry, KindVersion } from '../kinds/kind-entry.js'
import type { KindRegistry } from '../kinds/kind-registry.js'
import { RESOURCE_VIEWS, type ResourceView } from './resource-view.js'

type Subresource = 'status' | 'scale'

/** A collection or an object that a path names. */
export interface ResourcePath {
  entry: KindEntry
  version: KindVersion
  /** The group of the path, where the kind is of another one. */
  view?: ResourceView
  namespace?: string
  name?: string
  subresource?: Subresource
}

/** A kind, and the view of it that a path names. */
type ServedKind = Pick<ResourcePath, 'entry' | 'version' | 'view'>

function servedAt(kinds: KindRegistry, group: string, version: string, plural: string): ServedKind | undefined {
  const view = RESOURCE_VIEWS.find((each) => each.group === group && each.version === version && each.plural === plural)
  if (!view) return kinds.served(group, version, plural)
  const entry = kinds.get(view.kind)
  return { entry, version: entry.storage, view }
}

/** The segments of a path, decoded; undefined for one that cannot be decoded. */
export function segmentsOf(target: string): string[] | undefined {
  try {
    const path = target.replace(/[?#].*$/s, '')
    return path.split('/').slice(1).map(decodeURIComponent)
  } catch {
    return undefined
  }
}

/** Resource that a path names; undefined for none that is served. */
export function resourceAt(segments: readonly string[], kinds: KindRegistry): ResourcePath | undefined {
  const isCore = segments[0] === 'api'
  if (!isCore && segments[0] !== 'apis') return undefined
  const [group = '', version = '', ...rest] = isCore ? ['', ...segments.slice(1)] : segments.slice(1)
  const find = (plural = '') => servedAt(kinds, group, version, plural)
  const isInNamespace = rest[0] === 'namespaces' && find(rest[2]) !== undefined
  const [plural, name, subresource, ...more] = isInNamespace ? rest.slice(2) : rest
  const served = find(plural)
  if (!served || more.length > 0 || name === '' || (isInNamespace && rest[1] === '')) return undefined
  const { isNamespaced } = served.entry
  // An object of a namespace is found only in it.
  if (isInNamespace ? !isNamespaced : isNamespaced && name !== undefined) return undefined
  if (subresource !== undefined && !hasSubresource(served.version, subresource)) return undefined
  return {
    ...served,
    ...defined({
      namespace: isInNamespace ? rest[1]! : undefined,
      name,
      subresource: subresource as Subresource | undefined,
    }),
  }
}

const hasSubresource = ({ hasStatus, scale }: KindVersion, name: string): boolean =>
  name === 'status' ? hasStatus : name === 'scale' && scale !== undefined
