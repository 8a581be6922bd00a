import { defined } from '../../runtime/index.js'
import { KUBE_KINDS, type KubeKind } from '../kinds.js'
import { RESOURCE_VIEWS, type ResourceView } from './resource-view.js'

/** A collection or an object that a path names. */
export interface ResourcePath {
  kind: KubeKind
  /** The group of the path, where the kind is of another one. */
  view?: ResourceView
  namespace?: string
  name?: string
  subresource?: 'status'
}

/** A kind, and the view of it that a path names. */
type ServedKind = Pick<ResourcePath, 'kind' | 'view'>

const PLURALS = new Map<string, ServedKind>([
  ...(Object.keys(KUBE_KINDS) as KubeKind[]).map((kind) => [pluralPath(KUBE_KINDS[kind]), { kind }] as const),
  ...RESOURCE_VIEWS.map((view) => [pluralPath(view), { kind: view.kind, view }] as const),
])

function pluralPath({ group, version, plural }: Pick<ResourceView, 'group' | 'version' | 'plural'>): string {
  return `${group}/${version}/${plural}`
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
export function resourceAt(segments: readonly string[]): ResourcePath | undefined {
  const isCore = segments[0] === 'api'
  if (!isCore && segments[0] !== 'apis') return undefined
  const [group, version, ...rest] = isCore ? ['', ...segments.slice(1)] : segments.slice(1)
  const find = (plural: string | undefined) => PLURALS.get(`${group}/${version}/${plural}`)
  const isInNamespace = rest[0] === 'namespaces' && find(rest[2]) !== undefined
  const [plural, name, subresource, ...more] = isInNamespace ? rest.slice(2) : rest
  const served = find(plural)
  if (!served || more.length > 0 || name === '' || (isInNamespace && rest[1] === '')) return undefined
  const { isNamespaced, hasStatus } = KUBE_KINDS[served.kind]
  // An object of a namespace is found only in it.
  if (isInNamespace ? !isNamespaced : isNamespaced && name !== undefined) return undefined
  if (subresource !== undefined && (subresource !== 'status' || !hasStatus)) return undefined
  return {
    ...served,
    ...defined({
      namespace: isInNamespace ? rest[1]! : undefined,
      name,
      subresource: subresource === undefined ? undefined : ('status' as const),
    }),
  }
}
