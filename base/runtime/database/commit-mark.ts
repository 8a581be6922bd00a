import { closeSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { isDiskFull } from '../error.js'
import { replaceFileSync } from '../files/replace-file.js'
import type { Seal } from './seal.js'

/**
 * The last commit that was acknowledged, in a file beside the database. When the log of the database is cut short, SQLite
 * opens it without the commits after the cut, and without an error: the mark knows of them.
 */
export interface CommitMark extends Seal {
  /** Whether a process uses the database, or none does since one closed it. */
  readonly state: 'open' | 'closed'
  /** Boot of the host that wrote it: after a power cut a database may end before its mark. */
  readonly boot: string
  /** Whether commits wait for the disk, and so survive a power cut. */
  readonly durable: boolean
}

export const markFile = (database: string): string => `${database}-mark`

/** Bytes of the file. It is always as long, and within one sector of a disk, so that no write of it is half done. */
const MARK_SIZE = 256

function textOf({ state, commits, rows, digest, boot, durable }: CommitMark): string {
  const content = JSON.stringify([state, commits, rows, digest, boot, durable])
  return `${`ironstage-mark 1 ${content} ${crc32(content)}`.padEnd(MARK_SIZE - 1)}\n`
}

/**
 * Reads the mark of a database; undefined when it has none.
 *
 * @throws SyntaxError for a damaged one
 */
export function readMark(database: string): CommitMark | undefined {
  let bytes: Buffer
  try {
    bytes = readFileSync(markFile(database))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const [, content = '', sum] = /^ironstage-mark 1 (\[.*\]) (\d+) *\n$/.exec(bytes.toString('latin1')) ?? []
  if (bytes.length !== MARK_SIZE || crc32(content) !== Number(sum))
    throw new SyntaxError(`${markFile(database)} is damaged: it says which changes were the last ones`)
  const [state, commits, rows, digest, boot, durable] = JSON.parse(content) as [
    CommitMark['state'],
    number,
    number,
    number,
    string,
    boolean,
  ]
  return { state, commits, rows, digest, boot, durable }
}

/** Writes the mark of a database that no process uses. */
export const replaceMark = (database: string, mark: CommitMark): void =>
  replaceFileSync(markFile(database), textOf(mark))

/** The mark of a database that this process uses. */
export class OpenMark {
  readonly #file: number
  #mark: CommitMark

  constructor(database: string, first: CommitMark) {
    // The disk is waited for once, when the file is made: from then on it always holds some mark.
    if (statSync(markFile(database), { throwIfNoEntry: false })?.size !== MARK_SIZE) replaceMark(database, first)
    this.#file = openSync(markFile(database), 'r+')
    this.#mark = first
    this.#write(first)
  }

  /** Marks a commit after it was written. Waits for no disk: a mark is for the death of the process. */
  advance({ commits, rows, digest }: Seal): void {
    this.#write({ ...this.#mark, commits, rows, digest })
  }

  /** @param isOrderly whether the database was closed with everything in it */
  close(isOrderly: boolean): void {
    try {
      if (isOrderly) this.#write({ ...this.#mark, state: 'closed' })
    } finally {
      closeSync(this.#file)
    }
  }

  #write(mark: CommitMark): void {
    this.#mark = mark
    try {
      writeSync(this.#file, textOf(mark), 0, 'latin1')
    } catch (error) {
      // The commit is written. The next commit, or the next start, marks it too.
      if (!isDiskFull(error)) throw error
    }
  }
}
