import { broughtDefinitions } from '../crds/brought-definitions.js'
import { definedKind, specOf } from '../crds/defined-kind.js'
import { noSuchResource } from '../refusals.js'
import { coreEntries } from './core-table.js'
import { groupIn, type KindEntry, type KindVersion } from './kind-entry.js'

/**
 * The kinds that an API serves: those of Kubernetes itself, those whose definitions ironstage brings, and those that clients
 * define. A kind is named by its resource (`machines.cluster.x-k8s.io`); one that ironstage brings also by its kind alone.
 */
export class KindRegistry {
  readonly #entries = new Map<string, KindEntry>()
  readonly #byGroupKind = new Map<string, KindEntry>()
  /** Resources by the names under which ironstage's own operators know them. */
  readonly #aliases = new Map<string, string>()

  constructor() {
    for (const entry of firstEntries()) {
      this.install(entry)
      this.#aliases.set(entry.kind, entry.resource)
    }
  }

  /** All kinds, in the order in which they came. */
  all(): readonly KindEntry[] {
    return [...this.#entries.values()]
  }

  /** @param name its resource, or the kind of one that ironstage brings */
  find(name: string): KindEntry | undefined {
    return this.#entries.get(this.#aliases.get(name) ?? name)
  }

  /** @throws KubeRefusal 404 for a kind that is not there (any more) */
  get(name: string): KindEntry {
    const entry = this.find(name)
    if (!entry) throw noSuchResource()
    return entry
  }

  /** The name of a kind for ironstage's own operators; its resource where they do not know it. */
  nameOf({ kind, resource }: KindEntry): string {
    return this.#aliases.get(kind) === resource ? kind : resource
  }

  /** The kind of an object. */
  ofObject({ apiVersion, kind }: { apiVersion: string; kind: string }): KindEntry | undefined {
    return this.#byGroupKind.get(groupKind(groupIn(apiVersion), kind))
  }

  /** The kind and its version that a path names. */
  served(group: string, version: string, plural: string): { entry: KindEntry; version: KindVersion } | undefined {
    const entry = this.#entries.get(group === '' ? plural : `${plural}.${group}`)
    if (!entry || entry.group !== group) return undefined
    const served = entry.versions.find(({ name }) => name === version)
    return served && { entry, version: served }
  }

  /** Adds a kind, or replaces the one of its resource. */
  install(entry: KindEntry): void {
    this.#forgetKind(this.#entries.get(entry.resource))
    this.#entries.set(entry.resource, entry)
    this.#byGroupKind.set(groupKind(entry.group, entry.kind), entry)
  }

  remove(resource: string): void {
    this.#forgetKind(this.#entries.get(resource))
    this.#entries.delete(resource)
  }

  #forgetKind(entry: KindEntry | undefined): void {
    if (entry) this.#byGroupKind.delete(groupKind(entry.group, entry.kind))
  }
}

const groupKind = (group: string, kind: string): string => `${group}/${kind}`

let first: readonly KindEntry[] | undefined

/** The kinds with which every API begins; their schemas are compiled once for all. */
const firstEntries = (): readonly KindEntry[] =>
  (first ??= [...coreEntries(), ...broughtDefinitions().map((each) => definedKind(specOf(each)))])
