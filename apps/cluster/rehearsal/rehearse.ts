import { defined, errorChain, UserError, type Logger } from '../../../base/runtime/index.js'
import { ALL_BEHAVIOURS } from '../actors/all-behaviours.js'
import type { ActorNotice } from '../actors/actor.js'
import { performStep, actText } from './acts.js'
import { checkExpectation } from './expectation-checks.js'
import { installCluster } from './installation.js'
import { RehearsedCluster } from './rehearsed-cluster.js'
import type { Scenario } from './scenario.js'
import type { StoryEnd, StoryLine } from './story-line.js'

export interface RehearseOptions {
  /** Names of behaviours that actors lack. */
  without?: readonly string[]
  /** The same seed gives the same story. Default 1. */
  seed?: number
  logger: Logger
  /** Ends the story. */
  signal: AbortSignal
  onLine: (line: StoryLine) => void
}

const SELF = 'rehearsal'

/**
 * Plays a scenario from the installation of its cluster to its last step.
 *
 * @returns the last line, with a sentence for each expectation that failed
 * @throws UserError `behaviour-unknown` (usage); `scenario-file` (usage) for an image that cannot be used
 */
export async function rehearse(scenario: Scenario, options: RehearseOptions): Promise<StoryEnd> {
  const { without = [], onLine, signal } = options
  const { name, title, document = null } = scenario
  onLine({ event: 'begin', scenario: name, actor: SELF, title, document, without })
  const cluster: { opened?: RehearsedCluster; began: number } = { began: NaN }
  const now = (): { time: string; elapsed: number } => {
    const at = cluster.opened?.clock.now() ?? 0
    if (Number.isNaN(cluster.began)) cluster.began = at
    return { time: new Date(at).toISOString(), elapsed: (at - cluster.began) / 1000 }
  }
  const onNotice = ({ actor, does, because }: ActorNotice): void =>
    onLine({
      event: 'act',
      scenario: name,
      actor: ACTOR_SHORT_NAMES[actor] ?? actor,
      ...now(),
      does,
      ...defined({ because }),
    })
  const failures: string[] = []
  let checks = 0
  try {
    const opened = (cluster.opened = await RehearsedCluster.open(scenario, { ...options, onNotice }))
    const { releases, cluster: wanted } = scenario
    onNotice({ actor: 'administrator', does: `installs ${releases[wanted.release]!.version}` })
    for (const release of Object.values(releases)) {
      const left = Object.entries(release.own?.leftOut ?? {}).map(([kind, count]) => `${count} ${kind}`)
      if (left.length === 0) continue
      const because = `nothing acts on them here: ${left.sort().join(', ')}`
      onNotice({ actor: SELF, does: `leaves out manifests of ${release.version}`, because })
    }
    await installCluster(opened)
    for (const step of scenario.steps) {
      signal.throwIfAborted()
      if ('expect' in step) {
        checks++
        const { expects, found } = await opened.until(checkExpectation(step.expect, opened))
        const holds = found === undefined
        onLine({ event: 'check', scenario: name, actor: SELF, ...now(), expects, holds, ...(holds ? {} : { found }) })
        if (!holds) failures.push(`${expects}; but ${found}`)
        continue
      }
      const does = actText(step, opened)
      if (does !== undefined) onNotice({ actor: 'administrator', does })
      const { failure } = await performStep(step, opened)
      if (failure === undefined) continue
      failures.push(failure)
      break
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof UserError && error.kind === 'usage' && !cluster.opened) throw error
    failures.push(`the story broke off: ${errorChain(error).join(': ')}`)
  } finally {
    await cluster.opened?.[Symbol.asyncDispose]()
  }
  const holds = failures.length === 0
  const meanings = ALL_BEHAVIOURS.filter((behaviour) => without.includes(behaviour.name)).map(
    (behaviour) => `without ${behaviour.name}: ${behaviour.says}`,
  )
  const end: StoryEnd = {
    event: 'end',
    scenario: name,
    actor: SELF,
    elapsed: now().elapsed,
    holds,
    checks,
    failures: holds ? [] : [...failures, ...meanings],
  }
  onLine(end)
  return end
}

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
}
