import { defined } from '../../../../base/runtime/index.js'
import { KUBE_KINDS, type KubeKind } from '../kinds.js'

/** A collection or an object that a path names. */
export interface ResourcePath {
  kind: KubeKind
  namespace?: string
  name?: string
  subresource?: 'status'
}

const PLURALS = new Map(
  (Object.keys(KUBE_KINDS) as KubeKind[]).map((kind) => {
    const { group, version, plural } = KUBE_KINDS[kind]
    return [`${group}/${version}/${plural}`, kind]
  }),
)

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
  const kind = find(plural)
  if (!kind || more.length > 0 || name === '' || (isInNamespace && rest[1] === '')) return undefined
  const { isNamespaced, hasStatus } = KUBE_KINDS[kind]
  // An object of a namespace is found only in it.
  if (isInNamespace ? !isNamespaced : isNamespaced && name !== undefined) return undefined
  if (subresource !== undefined && (subresource !== 'status' || !hasStatus)) return undefined
  return {
    kind,
    ...defined({
      namespace: isInNamespace ? rest[1]! : undefined,
      name,
      subresource: subresource === undefined ? undefined : ('status' as const),
    }),
  }
}
