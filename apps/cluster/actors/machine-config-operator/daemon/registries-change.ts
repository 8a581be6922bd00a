import { parse as parseToml } from 'smol-toml'
import { schemaCheck } from '../../../../../base/schemas/index.js'
import { isSameJson } from '../../../../../base/kubernetes/index.js'

/** As much of /etc/containers/registries.conf as decides whether a node is drained for a change. */
interface RegistriesConf {
  'unqualified-search-registries'?: string[]
  registry?: ConfiguredRegistry[]
}

interface ConfiguredRegistry {
  prefix?: string
  location?: string
  blocked?: boolean
  insecure?: boolean
  'mirror-by-digest-only'?: boolean
  mirror?: ConfiguredMirror[]
}

interface ConfiguredMirror {
  location?: string
  'pull-from-mirror'?: string
}

const TEXT = { type: 'string' }
const FLAG = { type: 'boolean' }
const REGISTRIES_SCHEMA = {
  type: 'object',
  properties: {
    'unqualified-search-registries': { type: 'array', items: TEXT },
    registry: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          prefix: TEXT,
          location: TEXT,
          blocked: FLAG,
          insecure: FLAG,
          'mirror-by-digest-only': FLAG,
          mirror: {
            type: 'array',
            items: { type: 'object', properties: { location: TEXT, 'pull-from-mirror': TEXT } },
          },
        },
      },
    },
  },
}

const DIGEST_ONLY = 'digest-only'

/**
 * True if a change of registries.conf needs no drain: it only adds registries or mirrors that are asked by digest
 * (isSafeContainerRegistryConfChanges of pkg/daemon/drain.go of machine-config-operator 7ff337a). A file that cannot be read
 * is not safe.
 */
export function isSafeRegistriesChange(before: string, after: string): boolean {
  const old = registriesIn(before)
  const next = registriesIn(after)
  if (!old || !next) return false
  const searched = old['unqualified-search-registries'] ?? []
  // Images are looked up in this order.
  if (!searched.every((name, at) => next['unqualified-search-registries']?.[at] === name)) return false
  const oldByScope = byScope(old)
  const nextByScope = byScope(next)
  if ([...oldByScope.keys()].some((scope) => !nextByScope.has(scope))) return false
  return [...nextByScope].every(([scope, registry]) => {
    const known = oldByScope.get(scope)
    return known ? isSafeRegistry(known, registry) : isByDigestAlone(registry)
  })
}

function registriesIn(text: string): RegistriesConf | undefined {
  try {
    const value: unknown = parseToml(text)
    return schemaCheck<RegistriesConf>(REGISTRIES_SCHEMA).accepts(value) ? value : undefined
  } catch {
    return undefined
  }
}

const byScope = ({ registry = [] }: RegistriesConf): Map<string, ConfiguredRegistry> =>
  new Map(registry.map((one) => [one.prefix || (one.location ?? ''), one]))

function isSafeRegistry(old: ConfiguredRegistry, next: ConfiguredRegistry): boolean {
  if (isSameJson(old as never, next as never)) return true
  const isSame =
    (old.prefix ?? '') === (next.prefix ?? '') &&
    (old.location ?? '') === (next.location ?? '') &&
    (old.blocked ?? false) === (next.blocked ?? false) &&
    (old.insecure ?? false) === (next.insecure ?? false)
  const oldMirrors = old.mirror ?? []
  const mirrors = next.mirror ?? []
  const find = (all: readonly ConfiguredMirror[], { location }: ConfiguredMirror) =>
    all.find((one) => one.location === location)
  if (!isSame || !oldMirrors.every((mirror) => find(mirrors, mirror))) return false
  return mirrors.every((mirror) => {
    const known = find(oldMirrors, mirror)
    const pulls = mirror['pull-from-mirror'] ?? ''
    if (pulls === DIGEST_ONLY) return true
    return known ? pulls === (known['pull-from-mirror'] ?? '') : (next['mirror-by-digest-only'] ?? false)
  })
}

const isByDigestAlone = ({ mirror = [], ...registry }: ConfiguredRegistry): boolean =>
  mirror.length === 0
    ? (registry['mirror-by-digest-only'] ?? false)
    : mirror.every((one) => one['pull-from-mirror'] === DIGEST_ONLY)
