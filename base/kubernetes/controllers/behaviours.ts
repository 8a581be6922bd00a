import { defined, nearestWord, UserError } from '../../runtime/index.js'

/**
 * The account that actors act by: the real operators as they are today, or the design documents of 2020 to 2023, which
 * they did not follow in everything.
 */
export type ClusterEra = 'today' | 'document'

export const CLUSTER_ERAS: readonly ClusterEra[] = ['today', 'document']

/**
 * A behaviour of an actor that a rehearsal can switch off (`--without`). An actor declares its own beside itself, and
 * `all-behaviours.ts` of `apps/cluster/actors` puts them together.
 */
export interface Behaviour {
  /** `ACTOR/WHAT-IT-DOES`, in the words of a log: `cvo/waits-for-operators`. */
  name: string
  /** Name of a story that fails without it, in each era in which actors have it. */
  stories: Partial<Readonly<Record<ClusterEra, string>>>
  /** Consequence of its lack in a real cluster; follows the name in `without NAME: ...`. */
  says: string
  /** Where the real system has it: repository and commit, file, function; or the design document that asks for it. */
  source: string
  /** First and last minor release of OpenShift with it, as it is today: `4.10`. Default: all. */
  since?: string
  until?: string
  /** Number of the design document that asks for it, where today's systems lack it: `000`. */
  document?: string
}

export interface BehaviourChoice {
  /** Names of behaviours that the actors lack. */
  without?: readonly string[]
  /** Default `today`. */
  as?: ClusterEra
  /** Release of the actor: `4.14.0`. Without one it is newer than all that is known. */
  release?: string
}

/** The behaviours that the actors of a rehearsal have. */
export class Behaviours {
  readonly as: ClusterEra
  readonly #all: readonly Behaviour[]
  readonly #without: readonly string[]
  readonly #release: string | undefined

  /** @throws UserError `behaviour-unknown` (usage) */
  constructor(all: readonly Behaviour[], { without = [], as = 'today', release }: BehaviourChoice = {}) {
    for (const name of without) checkBehaviourName(name, all, as)
    this.as = as
    this.#all = all
    this.#without = without
    this.#release = release
  }

  /** The behaviours of an actor of a release, which may lack what other releases have. */
  of(release: string | undefined): Behaviours {
    return new Behaviours(this.#all, { without: this.#without, as: this.as, ...defined({ release }) })
  }

  has(behaviour: Behaviour): boolean {
    return isBehaviourOf(behaviour, this.as, this.#release) && !this.#without.includes(behaviour.name)
  }
}

function checkBehaviourName(name: string, all: readonly Behaviour[], as: ClusterEra): void {
  const found = all.find((behaviour) => behaviour.name === name)
  if (!found)
    throw new UserError('behaviour-unknown', `there is no behaviour ${name}`, {
      kind: 'usage',
      remedy: `${meantIn(name, all, as)}${listedOf(as)}`,
    })
  if (found.stories[as] !== undefined) return
  throw new UserError('behaviour-unknown', `${ERA_OPERATORS[as]} have no behaviour ${name}`, {
    kind: 'usage',
    remedy: `choose other operators; ${listedOf(as)}`,
  })
}

/** There are too many of them for a sentence. */
const listedOf = (as: ClusterEra): string => `list them with ironstage rehearse upgrade --list --as ${as}`

/** Begins a remedy with a behaviour of an era whose name is near; empty without one. */
function meantIn(name: string, all: readonly Behaviour[], as: ClusterEra): string {
  const names = all.filter(({ stories }) => stories[as] !== undefined).map((each) => each.name)
  const near = nearestWord(name, names)
  return near === undefined ? '' : `did you mean ${near}? `
}

const ERA_OPERATORS: Readonly<Record<ClusterEra, string>> = {
  today: "today's operators",
  document: 'the operators of the design documents',
}

/** True if actors of a release have a behaviour. The design documents know no releases. */
export function isBehaviourOf(behaviour: Behaviour, as: ClusterEra, release?: string): boolean {
  const { stories, since, until } = behaviour
  if (stories[as] === undefined) return false
  if (as === 'document' || release === undefined) return until === undefined || as === 'document'
  const minor = minorRelease(release)
  return (since === undefined || minor >= minorRelease(since)) && (until === undefined || minor <= minorRelease(until))
}

/** A number by which minor releases are in order: 4.9 before 4.10 before 5.0. */
function minorRelease(release: string): number {
  const [major = 0, minor = 0] = release.split('.').map((part) => Number.parseInt(part, 10))
  return major * 1000 + minor
}

/** True if a release is of a minor release or newer than it: `reachesRelease('4.22.1', '4.22')`. */
export const reachesRelease = (release: string, minor: string): boolean => minorRelease(release) >= minorRelease(minor)
