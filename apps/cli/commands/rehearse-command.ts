import { Behaviours } from '../../../base/kubernetes/index.js'
import {
  ALL_BEHAVIOURS,
  isMilestone,
  readOwnRelease,
  readScenario,
  rehearse,
  STORIES,
  storyLines,
  withOwnReleases,
  type Scenario,
  type StoryLine,
} from '../../cluster/index.js'
import type { Images } from '../../../base/registry/index.js'
import { defined, isDiskFull, nearestWord, UserError, wrapWords, readNamedText } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { imagesFor } from '../streams/fetching.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import type { REHEARSE_OPTIONS } from '../options/option-lists.js'
import { usageError } from '../usage-error.js'
import { checkClusterOptions, rehearseCluster } from './rehearse-cluster.js'
import { storyLog } from './story-log.js'

type RehearseCommandOptions = CommandOptionValues<(typeof REHEARSE_OPTIONS)[number]>

/** The scenario of a run that names none. */
const FIRST = 'deploy-image'

/**
 * `ironstage rehearse upgrade [SCENARIO|FILE...]`: plays stories of upgrades and prints what happens at that moment: the milestones, or
 * everything. Exit code 1 where an expectation fails.
 */
export async function rehearseUpgrade(
  options: RehearseCommandOptions,
  environment: Environment,
  names: readonly string[],
): Promise<number> {
  const { all = false, list = false, story = false, without = [], seed = 1, json = false } = options
  const { stdout, stopped } = environment
  checkClusterOptions(options, names)
  if (list) {
    if (json) for (const line of listed()) stdout.json(line)
    else stdout.lines(formatScenarioList(stdout.columns))
    return 0
  }
  if (all && names.length > 0) throw usageError('scenarios are named beside --all', 'leave --all out, or the names')
  // Refuses an unknown behaviour before anything is played.
  new Behaviours(ALL_BEHAVIOURS, without)
  if (options.cluster !== undefined) return rehearseCluster(options.cluster, options, environment)
  const wanted = all
    ? STORIES
    : await Promise.all((names.length > 0 ? names : [FIRST]).map((name) => scenarioNamed(name, options, environment)))
  let holds = true
  for (const scenario of wanted) {
    stopped.throwIfAborted()
    const view = json || story ? eachLine(environment, json) : summary(environment)
    const end = await rehearse(scenario, {
      without,
      seed,
      logger: storyLog(environment, json),
      signal: stopped,
      onLine: (line) => view.show(line),
    })
    view.end?.(end.holds)
    holds &&= end.holds
  }
  return holds ? 0 : 1
}

interface StoryView {
  show: (line: StoryLine) => void
  end?: (holds: boolean) => void
}

const eachLine = ({ stdout }: Environment, json: boolean): StoryView => ({
  show: (line) => stdout.either(json, line, storyLines(line, stdout.columns)),
})

/** Prints milestones when they happen, and the whole story of a scenario that did not go as expected. */
function summary({ stdout }: Environment): StoryView {
  const story: StoryLine[] = []
  return {
    show: (line) => {
      story.push(line)
      if (isMilestone(line)) stdout.lines(storyLines(line, stdout.columns))
    },
    end: (holds) => {
      if (holds) return stdout.line(`  --story prints all ${story.length} lines`)
      stdout.lines(['', 'The whole story:', ...story.flatMap((line) => storyLines(line, stdout.columns))])
    },
  }
}

/** A built-in scenario, or one from a file. */
async function scenarioNamed(
  name: string,
  options: RehearseCommandOptions,
  environment: Environment,
): Promise<Scenario> {
  const known = STORIES.find((story) => story.name === name)
  if (known) return known
  try {
    const file = readScenario(name, await readNamedText(name))
    return await withOwnReleases(file, async (release) =>
      readOwnRelease(await readImageOptions(options, environment), release),
    )
  } catch (cause) {
    if (cause instanceof UserError || isDiskFull(cause)) throw cause
    const near = nearestWord(
      name,
      STORIES.map((story) => story.name),
    )
    throw new UserError('scenario-unknown', `there is no scenario ${name}, and no file of this name can be read`, {
      kind: 'usage',
      cause,
      remedy: `${near === undefined ? '' : `did you mean ${near}? `}list the scenarios with ironstage rehearse upgrade --list`,
    })
  }
}

function readImageOptions(options: RehearseCommandOptions, environment: Environment): Promise<Images> {
  const { authfile, mirrors, 'image-ca': imageCa } = options
  const flags = defined({ authfile, mirrors, imageCa })
  return imagesFor(flags, environment)
}

const listed = (): object[] => [
  ...STORIES.map(({ name, title, document = null }) => ({ scenario: name, title, document })),
  ...ALL_BEHAVIOURS.map(({ name, story, says }) => ({ behaviour: name, scenario: story, says })),
]

function formatScenarioList(columns = 80): string[] {
  const shown = (entries: readonly { name: string; text: string }[]): string[] => {
    const width = Math.max(...entries.map(({ name }) => name.length)) + 2
    return entries.flatMap(({ name, text }) => {
      const lines = wrapWords(text.split(' '), Math.max(30, columns - width - 2))
      return lines.map((line, at) => `  ${at === 0 ? name.padEnd(width) : ' '.repeat(width)}${line}`)
    })
  }
  return [
    'Scenarios:',
    ...shown(STORIES.map(({ name, title }) => ({ name, text: title }))),
    '',
    'Behaviours for --without, with the scenario that shows what would happen:',
    ...shown(ALL_BEHAVIOURS.map(({ name, says, story }) => ({ name, text: `${says} (${story})` }))),
  ]
}
