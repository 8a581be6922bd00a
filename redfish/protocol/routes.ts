import type { Resource } from './resource.js'

interface Branch {
  resource?: Resource
  readonly parts: Map<string, Branch>
  placeholder?: { name: string; branch: Branch }
}

/** The resources by their paths: a map look-up a part, however many machines there are. */
export class Routes {
  readonly #root: Branch = { parts: new Map() }

  constructor(resources: readonly Resource[]) {
    for (const resource of resources) this.#add(resource)
  }

  #add(resource: Resource): void {
    let branch = this.#root
    for (const part of partsOf(resource.path)) {
      const name = /^\{(\w+)\}$/.exec(part)?.[1]
      if (name === undefined) {
        const next = branch.parts.get(part) ?? { parts: new Map() }
        branch.parts.set(part, next)
        branch = next
      } else {
        branch.placeholder ??= { name, branch: { parts: new Map() } }
        branch = branch.placeholder.branch
      }
    }
    if (branch.resource) throw new Error(`two resources at ${resource.path}`)
    branch.resource = resource
  }

  /** @param path below `/redfish/v1`, percent-encoded */
  find(path: string): { resource: Resource; params: Record<string, string> } | undefined {
    let branch = this.#root
    const params: Record<string, string> = {}
    for (const encoded of partsOf(path)) {
      const part = decoded(encoded)
      if (part === undefined) return undefined
      const next = branch.parts.get(part)
      if (next) branch = next
      else if (branch.placeholder) {
        params[branch.placeholder.name] = part
        branch = branch.placeholder.branch
      } else return undefined
    }
    return branch.resource && { resource: branch.resource, params }
  }
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '')

/** A part of a path without its escapes; undefined where these are wrong. */
export function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
