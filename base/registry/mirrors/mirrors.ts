import { defined } from '../../runtime/index.js'
import { referenceText, type ImageReference } from '../places/reference.js'

/** Where images of a repository, a namespace or a registry are looked for first. */
export interface MirrorRule {
  /** Beginning of names: a host, a namespace, a repository, or `*.` and a domain. */
  source: string
  /** Where {@link source} really is, where that is elsewhere. */
  location?: string
  /** In the order in which they are asked. */
  mirrors: readonly { place: string; pulls: 'all' | 'digest' | 'tag' }[]
  /** Whether the source is asked where no mirror has the image. */
  isSourceAsked: boolean
  /** Such images are asked for nowhere. */
  isBlocked: boolean
}

/** Places to ask for an image, in order. */
export interface Candidates {
  /** Empty when the image is blocked, or nothing but mirrors of another kind of name may be asked. */
  places: readonly ImageReference[]
  /** The rule that applied. */
  rule: MirrorRule | undefined
}

/**
 * Where an image is looked for: one rule applies, the one with the longest source (containers-registries.conf(5)); its
 * mirrors come first, then the source.
 */
export function mirrorCandidates(reference: ImageReference, rules: readonly MirrorRule[]): Candidates {
  const name = `${reference.registry}/${reference.repository}`
  const whole = referenceText(reference)
  const fitting = rules.filter(({ source }) => fitsMirrorSource(source, name) || fitsMirrorSource(source, whole))
  // The first one counts among equally long ones.
  const rule = fitting.reduce<MirrorRule | undefined>(
    (best, one) => (best && best.source.length >= one.source.length ? best : one),
    undefined,
  )
  if (!rule) return { places: [reference], rule }
  if (rule.isBlocked) return { places: [], rule }
  const kind = reference.digest === undefined ? 'tag' : 'digest'
  const mirrors = rule.mirrors.filter(({ pulls }) => pulls === 'all' || pulls === kind)
  const at = (place: string) => moved(reference, rule.source, place)
  const source = rule.location === undefined ? reference : at(rule.location)
  return { places: [...mirrors.map(({ place }) => at(place)), ...(rule.isSourceAsked ? [source] : [])], rule }
}

/** Whether a name begins with a source, and goes on with a separator. */
function fitsMirrorSource(source: string, name: string): boolean {
  if (source.startsWith('*.')) {
    const host = name.split(/[/:]/)[0]!
    return host.endsWith(source.slice(1))
  }
  return name === source || (name.startsWith(source) && /^[/:@]/.test(name.slice(source.length)))
}

/** The name with its beginning replaced. A wildcard stands for a whole host. */
function moved({ registry, repository, tag, digest }: ImageReference, source: string, place: string): ImageReference {
  const name = `${registry}/${repository}`
  const begin = source.startsWith('*.')
    ? registry
    : source.replace(/(?:@.*|:[^/:]*)$/, (end) => (name.startsWith(source) ? end : ''))
  const [host = '', ...path] = `${place}${name.slice(begin.length)}`.split('/')
  return {
    registry: host,
    repository: path.join('/'),
    ...defined({ tag, digest }),
  }
}
