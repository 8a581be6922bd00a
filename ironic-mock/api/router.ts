import { IRONIC_OPERATIONS, type IronicOperation } from '../../base/wire/index.js'

/** Route of a path: its operations by method, and the values of its `{names}`. */
export interface ApiRoute {
  readonly operations: ReadonlyMap<string, IronicOperation>
  readonly params: Readonly<Record<string, string>>
}

interface RouteBranch {
  literal: Map<string, RouteBranch>
  /** Branch of a named segment; operations at the same place may name it differently. */
  any?: RouteBranch
  calls: Map<string, { operation: IronicOperation; names: string[] }>
}

/** Tree of path segments: a lookup takes one step per segment, and literals win over names. */
export class Router {
  readonly #root: RouteBranch = { literal: new Map(), calls: new Map() }

  constructor(operations: readonly IronicOperation[] = IRONIC_OPERATIONS) {
    for (const operation of operations)
      for (const path of [operation.path, ...(operation.also ?? [])]) this.#add(path, operation)
  }

  /** @param segments decoded, without empty ones */
  find(method: string, segments: readonly string[]): ApiRoute | undefined {
    const values: string[] = []
    let branch: RouteBranch | undefined = this.#root
    for (const segment of segments) {
      const literal: RouteBranch | undefined = branch.literal.get(segment)
      if (!literal) values.push(segment)
      branch = literal ?? branch.any
      if (!branch) return undefined
    }
    if (branch.calls.size === 0) return undefined
    const call = branch.calls.get(method)
    return {
      operations: new Map([...branch.calls].map(([name, { operation }]) => [name, operation])),
      params: Object.fromEntries((call?.names ?? []).map((name, index) => [name, values[index]!])),
    }
  }

  #add(path: string, operation: IronicOperation): void {
    let branch = this.#root
    const names: string[] = []
    for (const segment of path.split('/').filter((part) => part !== '')) {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1]
      if (name) {
        names.push(name)
        branch = branch.any ??= { literal: new Map(), calls: new Map() }
      } else {
        let next = branch.literal.get(segment)
        if (!next) branch.literal.set(segment, (next = { literal: new Map(), calls: new Map() }))
        branch = next
      }
    }
    if (branch.calls.has(operation.method))
      throw new Error(`two operations for ${operation.method} ${path}: ${operation.id}`)
    branch.calls.set(operation.method, { operation, names })
  }
}
