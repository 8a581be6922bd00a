import { decodePathPart } from './path-part.js'
import type { RedfishResource } from './resource.js'

interface ResourceBranch {
  resource?: RedfishResource
  readonly parts: Map<string, ResourceBranch>
  placeholder?: { name: string; branch: ResourceBranch }
}

/** The resources by their paths: a map look-up a part, however many machines there are. */
export class Routes {
  readonly #root: ResourceBranch = { parts: new Map() }

  constructor(resources: readonly RedfishResource[]) {
    for (const resource of resources) this.#add(resource)
  }

  #add(resource: RedfishResource): void {
    let branch = this.#root
    for (const part of splitRoute(resource.path)) {
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

  /**
   * @param path below `/redfish/v1`, percent-encoded
   * @param ignoresCase true if the case of names that are the same in all paths has no meaning
   */
  find(path: string, ignoresCase = false): { resource: RedfishResource; params: Record<string, string> } | undefined {
    let branch = this.#root
    const params: Record<string, string> = {}
    for (const encoded of splitRoute(path)) {
      const part = decodePathPart(encoded)
      if (part === undefined) return undefined
      const next = branch.parts.get(part) ?? (ignoresCase ? partInAnyCase(branch, part) : undefined)
      if (next) branch = next
      else if (branch.placeholder) {
        params[branch.placeholder.name] = part
        branch = branch.placeholder.branch
      } else return undefined
    }
    return branch.resource && { resource: branch.resource, params }
  }
}

function partInAnyCase({ parts }: ResourceBranch, wanted: string): ResourceBranch | undefined {
  const folded = wanted.toLowerCase()
  for (const [part, branch] of parts) if (part.toLowerCase() === folded) return branch
  return undefined
}

const splitRoute = (path: string): string[] => path.split('/').filter((part) => part !== '')
