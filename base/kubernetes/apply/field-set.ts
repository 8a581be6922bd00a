import { isMembers, setMember, type JsonMembers, type KubeJson } from '../kube-json.js'

/** The way to a field, in the terms of `fieldsV1`: `f:NAME`, `k:{"KEY":VALUE}` for an item of a list, `v:VALUE` of a set. */
export type OwnedPath = readonly string[]

const SEPARATOR = '\u0000'
const pathKey = (path: OwnedPath): string => path.join(SEPARATOR)

/** A set of fields of an object: who owns them, or what has changed. */
export class FieldSet {
  readonly #paths: ReadonlyMap<string, OwnedPath>

  private constructor(paths: ReadonlyMap<string, OwnedPath>) {
    this.#paths = paths
  }

  static readonly none = new FieldSet(new Map())

  static of(paths: Iterable<OwnedPath>): FieldSet {
    return new FieldSet(new Map([...paths].map((path) => [pathKey(path), path])))
  }

  /** @param fields `fieldsV1`; what is none is left out */
  static read(fields: KubeJson | undefined): FieldSet {
    return FieldSet.of(pathsIn(fields, []))
  }

  get isEmpty(): boolean {
    return this.#paths.size === 0
  }

  paths(): readonly OwnedPath[] {
    return [...this.#paths.values()]
  }

  has(path: OwnedPath): boolean {
    return this.#paths.has(pathKey(path))
  }

  union(other: FieldSet): FieldSet {
    return new FieldSet(new Map([...this.#paths, ...other.#paths]))
  }

  without(other: FieldSet): FieldSet {
    return this.filter((path) => !other.has(path))
  }

  intersection(other: FieldSet): FieldSet {
    return this.filter((path) => other.has(path))
  }

  filter(selects: (path: OwnedPath) => boolean): FieldSet {
    return new FieldSet(new Map([...this.#paths].filter(([, path]) => selects(path))))
  }

  /** With the fields on the ways to those of the set. */
  withAncestors(): FieldSet {
    return FieldSet.of(this.paths().flatMap((path) => path.map((_, index) => path.slice(0, index + 1))))
  }

  isSame(other: FieldSet): boolean {
    return this.#paths.size === other.#paths.size && [...this.#paths.keys()].every((key) => other.#paths.has(key))
  }

  /** As `fieldsV1` writes it: a field that is in the set with others below it has a member `.`. */
  write(): JsonMembers {
    const root: WrittenFields = { below: new Map(), isOwn: false }
    for (const path of this.#paths.values()) {
      let at = root
      for (const part of path) {
        const next = at.below.get(part) ?? { below: new Map(), isOwn: false }
        at.below.set(part, next)
        at = next
      }
      at.isOwn = true
    }
    return writtenFields(root)
  }
}

interface WrittenFields {
  below: Map<string, WrittenFields>
  isOwn: boolean
}

function writtenFields({ below, isOwn }: WrittenFields): JsonMembers {
  const written = {}
  if (isOwn && below.size > 0) setMember(written, '.', {})
  for (const [name, each] of [...below].sort(([a], [b]) => (a < b ? -1 : 1)))
    setMember(written, name, writtenFields(each))
  return written
}

function pathsIn(fields: KubeJson | undefined, at: OwnedPath): OwnedPath[] {
  if (!isMembers(fields)) return []
  const names = Object.keys(fields)
  const own = at.length > 0 && (names.length === 0 || names.includes('.')) ? [at] : []
  return [...own, ...names.filter((name) => name !== '.').flatMap((name) => pathsIn(fields[name], [...at, name]))]
}

/** `.spec.containers[name="a"].image`, as a conflict names it. */
export const shownPath = (path: OwnedPath): string =>
  path
    .map((part) => {
      const text = part.slice(2)
      if (part.startsWith('f:')) return `.${text}`
      if (part.startsWith('v:')) return `[=${text}]`
      const keys = Object.entries(JSON.parse(text) as Record<string, unknown>)
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`
    })
    .join('')
