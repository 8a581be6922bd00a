import { UserError } from '../../../base/runtime/index.js'

/**
 * A behaviour of an actor that a rehearsal can switch off (`--without`). An actor declares its own beside itself, and
 * `all-behaviours.ts` of this folder puts them together.
 */
export interface Behaviour {
  /** `ACTOR/WHAT-IT-DOES`, in the words of a log: `cvo/waits-for-operators`. */
  name: string
  /** Name of a story that goes otherwise without it. */
  story: string
  /** Consequence of its lack in a real cluster; follows the name in `without NAME: ...`. */
  says: string
}

/** The behaviours that the actors of a rehearsal have. */
export class Behaviours {
  readonly #without: ReadonlySet<string>

  /** @throws UserError `behaviour-unknown` (usage) with the list */
  constructor(all: readonly Behaviour[], without: readonly string[] = []) {
    const names = all.map(({ name }) => name)
    const unknown = without.find((name) => !names.includes(name))
    if (unknown !== undefined)
      throw new UserError('behaviour-unknown', `there is no behaviour ${unknown}`, {
        kind: 'usage',
        remedy: `name one of: ${names.join(', ')}`,
      })
    this.#without = new Set(without)
  }

  has({ name }: Behaviour): boolean {
    return !this.#without.has(name)
  }
}
