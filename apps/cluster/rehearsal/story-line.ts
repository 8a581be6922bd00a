import type { ClusterEra } from '../../../base/kubernetes/index.js'
import { countText, wrapWords } from '../../../base/runtime/index.js'

/** A line of a rehearsal, as `--json` prints it. Times are those of the lab. */
export type StoryLine = StoryBegin | StoryAct | StoryCheck | StoryEnd

interface StoryLineHead {
  /** Name of the scenario. */
  scenario: string
  /** Short name of the one who acts: `cvo`, `cbo`, `icc`, `mco`, `mao`, `bmo`, `ironic`, `administrator`, `rehearsal`. */
  actor: string
}

interface StoryBegin extends StoryLineHead {
  event: 'begin'
  /** The era whose operators act. */
  as: ClusterEra
  title: string
  document: string | null
  without: readonly string[]
}

interface StoryAct extends StoryLineHead {
  event: 'act'
  /** RFC 3339. */
  time: string
  /** Seconds since the story began. */
  elapsed: number
  does: string
  because?: string
  /** Number of the design document that asks for this act, where today's operators do not do so. */
  document?: string
}

interface StoryCheck extends StoryLineHead {
  event: 'check'
  time: string
  elapsed: number
  expects: string
  holds: boolean
  /** The finding in place of the expected one. */
  found?: string
  /** Number of the design document whose behaviour, which today's operators lack, it shows. */
  document?: string
}

export interface StoryEnd extends StoryLineHead {
  event: 'end'
  elapsed: number
  holds: boolean
  checks: number
  /** A sentence for each expectation that failed, and what the lack of a behaviour means in a real cluster. */
  failures: readonly string[]
}

/** The design documents that stories play, by the numbers of docs/design-coverage.md. */
const DESIGN_DOCUMENTS: Readonly<Record<string, string>> = {
  '000': 'the CoreOS image in the release',
  '001': 'updating boot images',
  '002': 'first class CoreOS in Metal3',
  '003': 'base images without cluster content',
  '004': 'stream metadata',
}

/** Lines of a summary: requests of the administrator, checks and the outcome, without the work of operators. */
export const isMilestone = (line: StoryLine): boolean => line.event !== 'act' || line.actor === 'administrator'

const CLOCK_WIDTH = 8
const ACTOR_WIDTH = 13

/** The lines of a terminal for a line of a rehearsal, at most `columns` wide; digests are cut short. */
export function storyLines(line: StoryLine, columns = 80): string[] {
  switch (line.event) {
    case 'begin': {
      const named = line.document === null ? undefined : (DESIGN_DOCUMENTS[line.document] ?? line.document)
      const of = named === undefined ? '' : ` (design document: ${named})`
      const title = wrapStory(`${line.scenario}: ${line.title}${of}`, columns - 2)
      return [
        '',
        ...title.map((text, at) => (at === 0 ? text : `  ${text}`)),
        [`as ${line.as}`, ...(line.without.length > 0 ? [`without ${line.without.join(', ')}`] : [])].join(', '),
      ]
    }
    case 'act':
      return [
        ...spread(line, `${line.does}${documentText(line)}`, columns),
        ...(line.because === undefined ? [] : spread(null, `because ${line.because}`, columns)),
      ]
    case 'check':
      return spread({ ...line, actor: line.holds ? 'holds' : 'FAILS' }, checkText(line), columns)
    case 'end':
      return [
        `${line.scenario} ${line.holds ? 'went as expected' : 'did not go as expected'}: ${countText(line.checks, 'check')} in ${elapsedText(line.elapsed)}`,
        ...line.failures.flatMap((failure) => wrapStory(failure, columns - 2).map((text) => `  ${text}`)),
      ]
  }
}

function checkText(check: StoryCheck): string {
  const expects = `${check.expects}${documentText(check)}`
  return check.found === undefined ? expects : `${expects}; ${check.found}`
}

/** Suffix of what only a design document asks for. */
export const documentText = ({ document }: { document?: string }): string =>
  document === undefined ? '' : ` (document ${document})`

/** Text in its column, behind the time and the actor of the first line. */
const spread = (first: { elapsed: number; actor: string } | null, text: string, columns: number): string[] =>
  columnLines(first && { ...first, as: '' }, text, columns)

/**
 * Text in its column, behind what stands at the head of the first line: the era, the time, the actor.
 *
 * @param eraWidth width of the column with the era, for a text without a head
 */
export function columnLines(
  first: { as: string; elapsed: number; actor: string } | null,
  text: string,
  columns: number,
  eraWidth = 0,
): string[] {
  const before = first ? first.as.length : eraWidth
  const indent = before + CLOCK_WIDTH + 2 + ACTOR_WIDTH + 2
  return wrapStory(text, Math.max(30, columns - indent)).map((part, index) => {
    const head =
      first && index === 0
        ? `${first.as}${elapsedText(first.elapsed).padStart(CLOCK_WIDTH)}  ${first.actor.padEnd(ACTOR_WIDTH)}  `
        : ' '.repeat(indent)
    return `${head}${part}`
  })
}

/** `1:02:03` */
export function elapsedText(elapsed: number): string {
  const whole = Math.round(elapsed)
  const two = (number: number) => `${number}`.padStart(2, '0')
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`
}

/** Text in lines of a width; digests are cut short. */
export function wrapStory(text: string, width: number): string[] {
  const short = text.replaceAll(/(sha256:[0-9a-f]{12})[0-9a-f]{52}/g, '$1...')
  return wrapWords(
    short.split(' ').flatMap((word) => piecesOf(word, width)),
    width,
  )
}

/** A word that is wider than the terminal, cut after the parts of its name where that can be. */
function piecesOf(word: string, width: number): string[] {
  if (word.length <= width) return [word]
  const cut = Math.max(...['/', '@', ':'].map((mark) => word.lastIndexOf(mark, width - 1) + 1)) || width
  return [word.slice(0, cut), ...piecesOf(word.slice(cut), width)]
}
