import { definedKind, specOf } from './crds/defined-kind.js'
import { definitionErrors } from './crds/definition-rules.js'
import { acceptedNamesOf, isTrueIn, judgedDefinition } from './crds/definition-status.js'
import type { KindRegistry } from './kinds/kind-registry.js'
import type { Stored } from './stored-object.js'

/** The kinds that definitions among the objects make. */
export class DefinedKinds {
  readonly #kinds: KindRegistry

  constructor(kinds: KindRegistry) {
    this.#kinds = kinds
  }

  /** A definition with its status: whether its names are free, and it is served. */
  judged(definition: Stored, at: string): Stored {
    const { group } = specOf(definition)
    const { name } = definition.metadata
    const others = this.#kinds.all().filter((each) => each.group === group && each.resource !== name)
    return judgedDefinition(definition, others, at) as Stored
  }

  /** Serves what a definition says, under the names that were accepted. */
  written(definition: Stored): void {
    // A folder of an older version may hold one that had no effect then.
    if (!isTrueIn(definition, 'Established') || definitionErrors(definition, undefined).length > 0) return
    const spec = { ...specOf(definition), names: acceptedNamesOf(definition) }
    this.#kinds.install(definedKind(spec))
  }
}
