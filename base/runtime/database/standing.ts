import { basename } from 'node:path'
import type { CommitMark } from './commit-mark.js'
import type { Seal } from './seal.js'

/** How a database stands to the commits that were acknowledged. */
export type Standing =
  /** It has them all. */
  | { readonly kind: 'whole' }
  /** The last ones are gone with the power of the host, and no disk was waited for. */
  | { readonly kind: 'behind'; readonly sentence: string }
  /** Its log is missing, with the last ones. */
  | { readonly kind: 'no-log' }
  | { readonly kind: 'torn'; readonly sentence: string }

/** Contents of a database file: nothing, rows without a seal, or a seal that its rows have. */
export type DatabaseContents = 'missing' | 'empty' | 'older' | Seal

/** The write-ahead log of a database; a file of lines has none. */
export type DatabaseLog = 'there' | 'missing' | 'none'

const whole: Standing = { kind: 'whole' }
const torn = (sentence: string): Standing => ({ kind: 'torn', sentence })

/**
 * Compares what a database holds with its mark.
 *
 * @param boot of this start
 */
export function standingOf(
  path: string,
  found: DatabaseContents,
  mark: CommitMark | undefined,
  { boot, log }: { boot: string; log: DatabaseLog },
): Standing {
  const file = basename(path)
  if (mark === undefined) return withoutMark(file, found, log)
  if (mark.commits === 0) return whole
  if (found === 'missing') return torn(`${file} is missing: all changes were in it`)
  const commits = typeof found === 'string' ? 0 : found.commits
  if (commits < mark.commits) return behind(file, commits, mark, { boot, log })
  if (commits === mark.commits)
    return sameRows(found as Seal, mark) ? whole : torn(`${file} has other rows than were last written to it`)
  // A process was killed between a commit and its mark, or the host went down before the mark was on its disk.
  return whole
}

function withoutMark(file: string, found: DatabaseContents, log: DatabaseLog): Standing {
  if (found === 'older' || found === 'empty') return whole
  if (found === 'missing') return log === 'there' ? torn(`${file} is missing, and its log ${file}-wal is there`) : whole
  return torn(`${file}-mark is missing: it says which changes of ${file} were the last ones`)
}

/** A mark of a database in use may have the number of commits alone. */
const sameRows = (found: Seal, mark: Seal): boolean =>
  mark.rows < 0 || (found.rows === mark.rows && found.digest === mark.digest)

function behind(
  file: string,
  commits: number,
  mark: CommitMark,
  { boot, log }: { boot: string; log: DatabaseLog },
): Standing {
  const lost = mark.commits - commits
  const what = `of the ${mark.commits} changes of ${file} the last ${lost === 1 ? 'one is' : `${lost} are`} lost`
  const powerCut = mark.state === 'open' && mark.boot !== boot && !mark.durable
  if (powerCut) return { kind: 'behind', sentence: `${what}: the host went down before they were on its disk` }
  if (log === 'missing' && mark.state === 'open') return { kind: 'no-log' }
  const reason = log === 'there' ? `its log ${file}-wal is torn, or one of the two is` : 'the file is cut short or'
  return torn(`${what}: ${reason} of an earlier time`)
}
