import type { DumpedDocument } from './dump-values.js'

/** A resource of a dump. */
export interface DumpedResource {
  /** Path as the dump has it, without a slash at its end: `/redfish/v1/Systems/1`. */
  readonly path: string
  readonly document: DumpedDocument
  /** Headers of the answer to its GET, by their names in lower case; empty where the dump has none. */
  readonly headers: Readonly<Record<string, string>>
}

/** The resources of a BMC, as it answered once. Paths are found in any case, and with or without a slash. */
export class RedfishDump {
  /** Folder, zip or address that it is from. */
  readonly name: string
  readonly #exact = new Map<string, DumpedResource>()
  readonly #folded = new Map<string, DumpedResource>()

  constructor(name: string, resources: Iterable<DumpedResource>) {
    this.name = name
    for (const resource of resources) {
      const key = pathKey(resource.path)
      const each = { ...resource, path: key }
      if (!this.#exact.has(key)) this.#exact.set(key, each)
      const folded = key.toLowerCase()
      if (!this.#folded.has(folded)) this.#folded.set(folded, each)
    }
  }

  get size(): number {
    return this.#exact.size
  }

  resources(): IterableIterator<DumpedResource> {
    return this.#exact.values()
  }

  find(path: string | undefined): DumpedResource | undefined {
    if (path === undefined) return undefined
    const key = pathKey(path)
    return this.#exact.get(key) ?? this.#folded.get(key.toLowerCase())
  }

  document(path: string | undefined): DumpedDocument | undefined {
    return this.find(path)?.document
  }
}

/** A path without fragment, query, escapes and slashes at its end. */
export function pathKey(path: string): string {
  const plain = path.replace(/[?#].*$/s, '').replace(/\/+$/, '')
  if (!plain.includes('%')) return plain
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}
