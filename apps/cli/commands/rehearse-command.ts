import { type Behaviour, Behaviours, CLUSTER_ERAS, type ClusterEra } from '../../../base/kubernetes/index.js'
import {
  ALL_BEHAVIOURS,
  isMilestone,
  readOwnRelease,
  readScenario,
  readScenarioManifests,
  rehearse,
  STORIES,
  storiesOf,
  storyLines,
  withOwnReleases,
  type Scenario,
  type StoryEnd,
  type StoryLine,
} from '../../cluster/index.js'
import type { Images } from '../../../base/registry/index.js'
import { defined, isDiskFull, nearestWord, UserError, wrapWords, readNamedText } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { imagesFor } from '../streams/fetching.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import type { REHEARSE_OPTIONS } from '../options/option-lists.js'
import { compareEras } from './rehearse-compare.js'
import { readEra } from '../options/value-words.js'
import { usageError } from '../usage-error.js'
import { checkClusterOptions, rehearseCluster } from './rehearse-cluster.js'
import { storyLog } from '../output/command-log.js'

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
  const { all = false, list = false, story = false, compare = false, without = [], seed = 1, json = false } = options
  const as = readEra(options['operators-as'])
  const { stdout, stopped } = environment
  checkClusterOptions(options, names)
  if (list) {
    if (json) for (const line of listed(as)) stdout.json(line)
    else stdout.lines(formatScenarioList(as, stdout.columns))
    return 0
  }
  if (compare && (as !== undefined || story))
    throw usageError(`--compare plays both eras and prints what differs`, 'leave out --as and --story')
  if (all && names.length > 0) throw usageError('scenarios are named beside --all', 'leave --all out, or the names')
  if (options.cluster !== undefined) return rehearseCluster(options.cluster, options, environment)
  const wanted = all
    ? storiesOf(as ?? 'today')
    : await Promise.all((names.length > 0 ? names : [FIRST]).map((name) => scenarioNamed(name, options, environment)))
  const play = (
    scenario: Scenario,
    era: ClusterEra,
    lacking: readonly string[],
    onLine: (line: StoryLine) => void,
  ): Promise<StoryEnd> => {
    const logger = storyLog(environment, json)
    return rehearse(scenario, { as: era, without: lacking, seed, logger, signal: stopped, onLine })
  }
  if (compare) {
    const scenarios = all ? STORIES.filter(isFirstOfName) : wanted
    return (await compareEras({ scenarios, without, json }, environment, play)) ? 0 : 1
  }
  // Refuses an unknown behaviour before anything is played.
  for (const era of new Set(wanted.map((scenario) => eraOf(scenario, as))))
    new Behaviours(ALL_BEHAVIOURS, { without, as: era })
  let holds = true
  for (const scenario of wanted) {
    stopped.throwIfAborted()
    const view = json || story ? eachLine(environment, json) : summary(environment)
    const end = await play(scenario, eraOf(scenario, as), without, (line) => view.show(line))
    view.end?.(end.holds)
    holds &&= end.holds
  }
  return holds ? 0 : 1
}

const isFirstOfName = ({ name }: Scenario, index: number, all: readonly Scenario[]): boolean =>
  all.findIndex((story) => story.name === name) === index

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
  const known = builtInStory(name, readEra(options['operators-as']))
  if (known) return known
  try {
    const text = await readNamedText(name)
    const file = readScenario(name, text)
    const manifests = await readScenarioManifests(name, text, file)
    return await withOwnReleases({ ...file, manifests }, async (release) =>
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

/** A story of an era; without one, of today, or of the documents where it is theirs alone. */
function builtInStory(name: string, as: ClusterEra | undefined): Scenario | undefined {
  const [first, ...others] = as === undefined ? CLUSTER_ERAS : [as]
  const found = [first!, ...others].flatMap((era) => storiesOf(era).filter((story) => story.name === name))
  if (found[0] || !STORIES.some((story) => story.name === name)) return found[0]
  const other = as === 'today' ? 'document' : 'today'
  throw new UserError('scenario-unknown', `the scenario ${name} is not of ${ERA_TITLES[as!]}`, {
    kind: 'usage',
    remedy: `add --as ${other}, or list the scenarios with ironstage rehearse upgrade --list --as ${as}`,
  })
}

const ERA_TITLES: Readonly<Record<ClusterEra, string>> = {
  today: "today's operators",
  document: 'the design documents',
}

const eraOf = (scenario: Scenario, as: ClusterEra | undefined): ClusterEra => as ?? scenario.as ?? 'today'

const erasOf = ({ as }: Scenario): readonly ClusterEra[] => (as === undefined ? CLUSTER_ERAS : [as])

/** Stories of an era, or of both: a name that has two is there twice, with the era of each. */
const storiesFor = (as: ClusterEra | undefined): readonly Scenario[] => (as === undefined ? STORIES : storiesOf(as))

const behavioursFor = (as: ClusterEra | undefined): readonly Behaviour[] =>
  ALL_BEHAVIOURS.filter(({ stories }) => as === undefined || stories[as] !== undefined)

const listed = (as: ClusterEra | undefined): object[] => [
  ...storiesFor(as).map((story) => {
    const { name, title, document = null } = story
    return { scenario: name, as: erasOf(story), title, document }
  }),
  ...behavioursFor(as).map(({ name, stories, says, since, until, source }) => ({
    behaviour: name,
    as: Object.keys(stories),
    scenario: stories.today ?? stories.document,
    scenarios: stories,
    says,
    ...defined({ since, until }),
    source,
  })),
]

function formatScenarioList(as: ClusterEra | undefined, columns = 80): string[] {
  const shown = (entries: readonly { name: string; text: string }[]): string[] => {
    const width = Math.max(...entries.map(({ name }) => name.length)) + 2
    return entries.flatMap(({ name, text }) => {
      const lines = wrapWords(text.split(' '), Math.max(30, columns - width - 2))
      return lines.map((line, at) => `  ${at === 0 ? name.padEnd(width) : ' '.repeat(width)}${line}`)
    })
  }
  return [
    'Scenarios:',
    ...shown(storiesFor(as).map((story) => ({ name: story.name, text: `${story.title}${formatEras(erasOf(story))}` }))),
    '',
    'Behaviours for --without, with the scenario that shows what would happen:',
    ...shown(behavioursFor(as).map((behaviour) => ({ name: behaviour.name, text: formatBehaviour(behaviour) }))),
  ]
}

/** `(today)` for what is of one era; nothing for what is of both. */
const formatEras = (eras: readonly ClusterEra[]): string => (eras.length === 1 ? ` (${eras[0]})` : '')

function formatBehaviour({ says, stories, since, until }: Behaviour): string {
  const { today, document } = stories
  const names =
    today === undefined || document === undefined || today === document ? [today ?? document] : [today, document]
  const releases = [
    ...(since === undefined ? [] : [`since ${since}`]),
    ...(until === undefined ? [] : [`until ${until}`]),
  ]
  const only = today === undefined ? ['document'] : document === undefined ? ['today'] : []
  return `${says} (${[...only, ...releases, names.join(', as document ')].join('; ')})`
}
