import { defined, errorChain, UserError, type Logger } from '../../../base/runtime/index.js'
import { ALL_BEHAVIOURS } from '../actors/all-behaviours.js'
import type { ActorNotice, ClusterEra } from '../../../base/kubernetes/index.js'
import { performStep, actText } from './acts.js'
import { checkExpectation } from './expectation-checks.js'
import { installCluster } from './installation.js'
import { RehearsedCluster } from './rehearsed-cluster.js'
import type { Expectation, Scenario } from './scenario.js'
import type { StoryEnd, StoryLine } from './story-line.js'

export interface RehearseOptions {
  /** Names of behaviours that actors lack. */
  without?: readonly string[]
  /** The era whose operators act. Default: that of the scenario, otherwise `today`. */
  as?: ClusterEra
  /** The same seed gives the same story. Default 1. */
  seed?: number
  logger: Logger
  /** Ends the story. */
  signal: AbortSignal
  onLine: (line: StoryLine) => void
}

const SELF = 'rehearsal'

/** Another play on the cluster of a scenario than its steps. */
export interface StoryPlan {
  /** Installs the cluster; a sentence where that fails. */
  install(cluster: RehearsedCluster): Promise<string | null>
  /**
   * @param tell prints a line
   * @returns a sentence for each failure
   */
  play(cluster: RehearsedCluster, tell: (notice: ActorNotice) => void): Promise<readonly string[]>
}

/**
 * Plays a scenario from the installation of its cluster to its last step.
 *
 * @param plan in place of the scenario's installation and steps
 * @returns the last line, with a sentence for each expectation that failed
 * @throws UserError `behaviour-unknown` (usage); `scenario-file` (usage) for an image that cannot be used
 */
export const rehearse = (scenario: Scenario, options: RehearseOptions, plan?: StoryPlan): Promise<StoryEnd> =>
  new StoryRun(scenario, options, plan).play()

/** One run of a scenario: prints its lines, and remembers what has failed. */
class StoryRun {
  readonly #scenario: Scenario
  readonly #options: RehearseOptions
  readonly #plan: StoryPlan | undefined
  readonly #as: ClusterEra
  readonly #failures: string[] = []
  #checks = 0
  /** Undefined until its parts are open. */
  #cluster: RehearsedCluster | undefined
  /** Lab time of the first line that has a time; NaN before. */
  #began = NaN

  constructor(scenario: Scenario, options: RehearseOptions, plan: StoryPlan | undefined) {
    this.#scenario = scenario
    this.#options = options
    this.#plan = plan
    this.#as = options.as ?? scenario.as ?? 'today'
  }

  async play(): Promise<StoryEnd> {
    const { without = [], onLine, signal } = this.#options
    const { name, title, document = null } = this.#scenario
    const as = this.#as
    onLine({ event: 'begin', scenario: name, actor: SELF, as, title, document, without })
    try {
      const onNotice = (notice: ActorNotice): void => this.#tellNotice(notice)
      this.#cluster = await RehearsedCluster.open(this.#scenario, { ...this.#options, as, onNotice })
      if (this.#plan) await this.#playPlan(this.#plan, this.#cluster)
      else {
        await this.#install(this.#cluster)
        await this.#playSteps(this.#cluster)
      }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof UserError && error.kind === 'usage' && !this.#cluster) throw error
      this.#failures.push(`the story broke off: ${errorChain(error).join(': ')}`)
    } finally {
      await this.#cluster?.[Symbol.asyncDispose]()
    }
    return this.#tellEnd()
  }

  async #playPlan(plan: StoryPlan, cluster: RehearsedCluster): Promise<void> {
    this.#tellInstallation()
    const failure = await plan.install(cluster)
    if (failure !== null) this.#failures.push(`the cluster cannot be installed: ${failure}`)
    else this.#failures.push(...(await plan.play(cluster, (notice) => this.#tellNotice(notice))))
  }

  async #install(cluster: RehearsedCluster): Promise<void> {
    this.#tellInstallation()
    await installCluster(cluster)
  }

  #tellInstallation(): void {
    const { releases, cluster: wanted } = this.#scenario
    this.#tellNotice({ actor: 'administrator', does: `installs ${releases[wanted.release]!.version}` })
    for (const notice of leftOutNotices(releases)) this.#tellNotice(notice)
  }

  /** Plays the steps up to the first that fails; an expectation that does not hold lets the story go on. */
  async #playSteps(cluster: RehearsedCluster): Promise<void> {
    for (const step of this.#scenario.steps) {
      this.#options.signal.throwIfAborted()
      if ('expect' in step) {
        await this.#check(step.expect, step.document, cluster)
        continue
      }
      const does = actText(step, cluster)
      if (does !== undefined) this.#tellNotice({ actor: 'administrator', does })
      const { failure } = await performStep(step, cluster)
      if (failure === undefined) continue
      this.#failures.push(failure)
      return
    }
  }

  async #check(expectation: Expectation, document: string | undefined, cluster: RehearsedCluster): Promise<void> {
    this.#checks++
    const { expects, found } = await cluster.until(checkExpectation(expectation, cluster))
    const { time, elapsed } = this.#now()
    this.#options.onLine({
      event: 'check',
      scenario: this.#scenario.name,
      actor: SELF,
      time,
      elapsed,
      expects,
      holds: found === undefined,
      ...defined({ found, document }),
    })
    if (found !== undefined) this.#failures.push(`${expects}; but ${found}`)
  }

  #tellNotice(notice: ActorNotice): void {
    const now = this.#clockNow()
    this.#options.onLine(actLine(this.#scenario.name, notice, { now, began: this.#began }))
  }

  #tellEnd(): StoryEnd {
    const { without = [], onLine } = this.#options
    const holds = this.#failures.length === 0
    const end: StoryEnd = {
      event: 'end',
      scenario: this.#scenario.name,
      actor: SELF,
      elapsed: this.#now().elapsed,
      holds,
      checks: this.#checks,
      failures: holds ? [] : [...this.#failures, ...meaningsOf(without)],
    }
    onLine(end)
    return end
  }

  #now(): StoryTime {
    return storyTime({ now: this.#clockNow(), began: this.#began })
  }

  #clockNow(): number {
    const now = this.#cluster?.clock.now() ?? 0
    if (Number.isNaN(this.#began)) this.#began = now
    return now
  }
}

interface StoryTime {
  time: string
  elapsed: number
}

/** Milliseconds of lab time: now, and at the first line. */
interface StoryClock {
  now: number
  began: number
}

const storyTime = ({ now, began }: StoryClock): StoryTime => ({
  time: new Date(now).toISOString(),
  elapsed: (now - began) / 1000,
})

/** The line for an act of an actor. */
export const actLine = (scenario: string, notice: ActorNotice, at: StoryClock): StoryLine => ({
  event: 'act',
  scenario,
  actor: ACTOR_SHORT_NAMES[notice.actor] ?? notice.actor,
  ...storyTime(at),
  does: notice.does,
  ...defined({ because: notice.because, document: notice.document }),
})

/** Names the manifests of the user's own releases that no actor here acts on. */
function leftOutNotices(releases: Scenario['releases']): ActorNotice[] {
  return Object.values(releases).flatMap(({ version, own }) => {
    const kinds = Object.entries(own?.leftOut ?? {}).map(([kind, count]) => `${count} ${kind}`)
    if (kinds.length === 0) return []
    const because = `nothing acts on them here: ${kinds.sort().join(', ')}`
    return [{ actor: SELF, does: `leaves out manifests of ${version}`, because }]
  })
}

/** Consequences that the lack of behaviours has in a real cluster. */
const meaningsOf = (without: readonly string[]): string[] =>
  ALL_BEHAVIOURS.filter(({ name }) => without.includes(name)).map(({ name, says }) => `without ${name}: ${says}`)

/** Names of the actors, as people call them. */
const ACTOR_SHORT_NAMES: Readonly<Record<string, string>> = {
  'cluster-version-operator': 'cvo',
  'cluster-baremetal-operator': 'cbo',
  'image-customization-controller': 'icc',
  'machine-config-operator': 'mco',
  'machine-config-controller': 'mco',
  'machine-config-server': 'mco',
  'machine-config-daemon': 'mco',
  'machine-api-operator': 'mao',
  'baremetal-operator': 'bmo',
  'kube-apiserver': 'api',
}
