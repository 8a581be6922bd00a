import { defined } from '../../../base/runtime/index.js'
import { CLUSTER_ERAS, type ClusterEra } from '../../../base/kubernetes/index.js'
import { columnLines, documentText, elapsedText, wrapStory, type StoryLine } from './story-line.js'

/** A line of one era's story that the other era's does not have, as `--json` prints it. */
export interface StoryDifference {
  event: 'difference'
  scenario: string
  as: ClusterEra
  actor: string
  /** Seconds since its story began. */
  elapsed: number
  /** An act; of a check, the expectation. */
  says: string
  /** How often it is there alone, if more than once; {@link elapsed} is of the first. */
  times?: number
  /** Reason of an act. */
  because?: string
  /** Only for a check. */
  holds?: boolean
  found?: string
  /** Number of the design document that asks for it, where today's operators do not do so. */
  document?: string
}

/** The end of a comparison. */
export interface StoryComparison {
  event: 'comparison'
  scenario: string
  titles: Readonly<Record<ClusterEra, string>>
  /** Outcome in each era. */
  holds: Readonly<Record<ClusterEra, boolean>>
  /** Number of lines that only one era has. */
  differences: number
  /** The first difference, and when it is: seconds since the story began; null for none. */
  partsAt: number | null
}

type PlayedLine = Extract<StoryLine, { event: 'act' | 'check' }>

const isPlayed = (line: StoryLine): line is PlayedLine => line.event === 'act' || line.event === 'check'

/** Those who decide on an upgrade: the order of their acts counts, of others only what is done, and how often. */
const DECIDING: readonly string[] = ['administrator', 'cvo', 'cbo', 'api']

/**
 * Lines that only one of two stories has, after the installation, in the order in which they were played. Names that are
 * made up or drawn in a run (of machines, hosts and rendered configurations) make no difference, nor do times.
 */
export function compareStories(stories: Readonly<Record<ClusterEra, readonly StoryLine[]>>): StoryDifference[] {
  const document = comparedLines(stories.document)
  const today = comparedLines(stories.today)
  const alike = sharedLines(document, today)
  const only = [
    ...differencesOf(
      document.filter((line) => !alike.has(line)),
      'document',
    ),
    ...differencesOf(
      today.filter((line) => !alike.has(line)),
      'today',
    ),
  ]
  return only.sort((a, b) => a.elapsed - b.elapsed)
}

/** The lines that one era has alone; one that is repeated is there once. */
function differencesOf(lines: readonly ComparedLine[], as: ClusterEra): StoryDifference[] {
  const repeated = new Map<string, ComparedLine[]>()
  for (const line of lines) repeated.set(line.text, [...(repeated.get(line.text) ?? []), line])
  return [...repeated.values()].map((all) => {
    const times = all.length > 1 ? all.length : undefined
    return { ...differenceOf(all[0]!.line, as), ...defined({ times }) }
  })
}

/** A line with the text that it is compared by. */
interface ComparedLine {
  line: PlayedLine
  text: string
  decides: boolean
}

/** The lines of a story after the installation of its cluster. */
function comparedLines(story: readonly StoryLine[]): ComparedLine[] {
  const played = story.filter(isPlayed)
  const first = played.findIndex((line, at) => at > 0 && (line.event === 'check' || line.actor === 'administrator'))
  return played.slice(Math.max(first, 0)).map((line) => ({
    line,
    text: comparedText(line),
    decides: line.event === 'check' || DECIDING.includes(line.actor),
  }))
}

/** The end of a comparison, by its lines. */
export function comparisonOf(
  stories: Readonly<Record<ClusterEra, readonly StoryLine[]>>,
  differences: readonly StoryDifference[],
): StoryComparison {
  const titleIn = (as: ClusterEra): string => stories[as].find((line) => line.event === 'begin')?.title ?? ''
  const holdsIn = (as: ClusterEra): boolean => stories[as].some((line) => line.event === 'end' && line.holds)
  return {
    event: 'comparison',
    scenario: stories.today[0]?.scenario ?? '',
    titles: { document: titleIn('document'), today: titleIn('today') },
    holds: { document: holdsIn('document'), today: holdsIn('today') },
    differences: differences.length,
    partsAt: differences[0]?.elapsed ?? null,
  }
}

/** The lines of a terminal for a comparison. */
export function comparisonLines(
  { scenario, titles, holds, partsAt }: StoryComparison,
  differences: readonly StoryDifference[],
  columns = 80,
): string[] {
  const outcome = (as: ClusterEra): string => (holds[as] ? 'went as expected' : 'did not go as expected')
  const isOne = titles.today === titles.document && holds.today === holds.document
  const sentences = isOne
    ? [`${titles.today} (both ${outcome('today')})`]
    : CLUSTER_ERAS.map((as) => `as ${as}: ${titles[as]} (${outcome(as)})`)
  const head = sentences.flatMap((sentence) => wrapStory(sentence, columns - 4))
  const parting = partsAt === null ? 'They do not part.' : `They part at ${elapsedText(partsAt)}:`
  return [
    '',
    `${scenario}, ${CLUSTER_ERAS.map((as) => `as ${as}`).join(' and ')}`,
    ...head.map((text) => `  ${text}`),
    parting,
    ...differences.flatMap((one) => differenceLines(one, columns)),
  ]
}

function differenceLines(difference: StoryDifference, columns: number): string[] {
  const { as, actor, elapsed, says, times, because, holds, found, document } = difference
  const by = holds === undefined ? actor : holds ? 'holds' : 'FAILS'
  const often = times === undefined ? '' : `, ${times} times`
  const text = `${says}${documentText(defined({ document }))}${found === undefined ? '' : `; ${found}`}${often}`
  const head = { as: as.padEnd(ERA_WIDTH), actor: by, elapsed }
  return [
    ...columnLines(head, text, columns),
    ...(because === undefined ? [] : columnLines(null, `because ${because}`, columns, ERA_WIDTH)),
  ]
}

/** Width of the column with the era. */
const ERA_WIDTH = 8

function differenceOf(line: PlayedLine, as: ClusterEra): StoryDifference {
  const { scenario, actor, elapsed, document } = line
  const head = { event: 'difference' as const, scenario, as, actor, elapsed }
  return line.event === 'act'
    ? { ...head, says: line.does, ...defined({ because: line.because, document }) }
    : { ...head, says: line.expects, holds: line.holds, ...defined({ found: line.found, document }) }
}

function comparedText(line: PlayedLine): string {
  const text =
    line.event === 'act'
      ? `${line.actor} ${line.does}`
      : `${line.holds ? 'holds' : 'fails'} ${line.expects} ${line.found ?? ''}`
  return text
    .replaceAll(/\b(rendered-\w+)-[0-9a-f]{6,}/g, '$1')
    .replaceAll(/\bworkers-[a-z0-9]{5}\b/g, 'a worker')
    .replaceAll(/\bhost-\d+\b/g, 'a host')
    .replaceAll(/sha256:[0-9a-f]+/g, 'a digest')
}

/** The lines of two stories that are alike: of those who decide in the same order, of others as often. */
function sharedLines(document: readonly ComparedLine[], today: readonly ComparedLine[]): ReadonlySet<ComparedLine> {
  const isDeciding = ({ decides }: ComparedLine): boolean => decides
  const alike = new Set(commonLines(document.filter(isDeciding), today.filter(isDeciding)))
  const others = today.filter(({ decides }) => !decides)
  for (const line of document.filter(({ decides }) => !decides)) {
    const same = others.findIndex(({ text }) => text === line.text)
    if (same < 0) continue
    for (const one of [line, ...others.splice(same, 1)]) alike.add(one)
  }
  return alike
}

/** The longest common subsequence of two lists: its lines in both. */
function commonLines(first: readonly ComparedLine[], second: readonly ComparedLine[]): ComparedLine[] {
  const longest = Array.from({ length: first.length + 1 }, () => new Array<number>(second.length + 1).fill(0))
  const isSame = (a: number, b: number): boolean => first[a]!.text === second[b]!.text
  for (let a = first.length - 1; a >= 0; a--)
    for (let b = second.length - 1; b >= 0; b--)
      longest[a]![b] = isSame(a, b) ? longest[a + 1]![b + 1]! + 1 : Math.max(longest[a + 1]![b]!, longest[a]![b + 1]!)
  const common: ComparedLine[] = []
  let a = 0
  let b = 0
  while (a < first.length && b < second.length)
    if (isSame(a, b)) common.push(first[a++]!, second[b++]!)
    else if (longest[a + 1]![b]! >= longest[a]![b + 1]!) a++
    else b++
  return common
}
