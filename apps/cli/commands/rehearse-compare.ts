import { Behaviours, CLUSTER_ERAS, type ClusterEra } from '../../../base/kubernetes/index.js'
import {
  ALL_BEHAVIOURS,
  compareStories,
  comparisonLines,
  comparisonOf,
  STORIES,
  storiesOf,
  type Scenario,
  type StoryLine,
} from '../../cluster/index.js'
import type { Environment } from '../environment.js'

/** Plays a scenario, and tells each line. */
export type ScenarioPlay = (
  scenario: Scenario,
  as: ClusterEra,
  without: readonly string[],
  onLine: (line: StoryLine) => void,
) => Promise<unknown>

export interface CompareOptions {
  scenarios: readonly Scenario[]
  without: readonly string[]
  json: boolean
}

/**
 * Plays each scenario with the operators of both eras, and prints the lines that only one of them has.
 *
 * @returns true if each story of an era went as expected
 */
export async function compareEras(
  { scenarios, without, json }: CompareOptions,
  { stdout, stopped }: Environment,
  play: ScenarioPlay,
): Promise<boolean> {
  const chosen = { document: lackingIn('document', without), today: lackingIn('today', without) }
  let holds = true
  for (const scenario of scenarios) {
    const stories: Record<ClusterEra, StoryLine[]> = { document: [], today: [] }
    for (const as of CLUSTER_ERAS) {
      stopped.throwIfAborted()
      await play(versionOf(scenario, as), as, chosen[as], (line) => void stories[as].push(line))
    }
    const differences = compareStories(stories)
    const comparison = comparisonOf(stories, differences)
    if (json) for (const line of [...differences, comparison]) stdout.json(line)
    else stdout.lines(comparisonLines(comparison, differences, stdout.columns))
    holds &&= CLUSTER_ERAS.every((as) => comparison.holds[as] || !isOfEra(scenario, as))
  }
  return holds
}

/**
 * The behaviours of an era that are to be taken away.
 *
 * @throws UserError `behaviour-unknown` (usage) for a name that no era knows
 */
function lackingIn(as: ClusterEra, without: readonly string[]): readonly string[] {
  const known = without.filter((name) => ALL_BEHAVIOURS.find((each) => each.name === name)?.stories[as] !== undefined)
  const isUnknown = (name: string): boolean => !ALL_BEHAVIOURS.some((each) => each.name === name)
  new Behaviours(ALL_BEHAVIOURS, { without: without.filter(isUnknown), as })
  return known
}

/** The scenario of an era: another story of its name, or itself. */
const versionOf = (scenario: Scenario, as: ClusterEra): Scenario =>
  (STORIES.includes(scenario) ? storiesOf(as).find(({ name }) => name === scenario.name) : undefined) ?? scenario

/** True if the era has a story of this name. */
const isOfEra = (scenario: Scenario, as: ClusterEra): boolean => {
  const { as: own } = versionOf(scenario, as)
  return own === undefined || own === as
}
