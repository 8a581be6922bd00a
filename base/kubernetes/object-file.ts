import {
  appendFileSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import {
  defined,
  errorChain,
  hostBoot,
  isDiskFull,
  markFile,
  OpenMark,
  readMark,
  replaceFileSync,
  replaceMark,
  standingOf,
  UserError,
  type CommitMark,
  type DatabaseContents,
  type Seal,
} from '../runtime/index.js'
import { specOf } from './crds/defined-kind.js'
import { groupIn } from './kinds/kind-entry.js'
import { KindRegistry } from './kinds/kind-registry.js'
import { kubeRefusal } from './refusals.js'
import type { Stored } from './stored-object.js'

/** Its name in a state folder. */
export const OBJECT_FILE = 'kube-objects.jsonl'

/** A file with the objects of an API, which so outlive its process. */
export interface ObjectFile extends Disposable {
  /** Objects of the previous start. */
  readonly objects: readonly Stored[]
  /** resourceVersion of the last write. */
  readonly resourceVersion: number
  /**
   * Keeps a write; returns once a kill of this process does not lose it.
   *
   * @throws KubeRefusal 507 where the disk is full, 500 where the file cannot be written
   */
  keep(object: Stored, isDeleted: boolean): void
}

/** A line of the file: the state of an object after a write, or the version alone. */
interface ObjectLine {
  resourceVersion: number
  object?: Stored
  deleted?: true
  /** In the first line: number of writes before those of the lines after the objects. */
  writes?: number
  /** Number of objects that follow the first line; each further line is a write. */
  objects?: number
}

/** Bytes of changes after which the file is rewritten. */
const MAX_APPENDED_BYTES = 16 * 1024 * 1024

const objectKeyOf = ({ apiVersion, kind, metadata: { namespace = '', name } }: Stored): string =>
  `${groupIn(apiVersion)}/${kind}/${namespace}/${name}`

/** The kinds of the lines so far: those that ironstage brings, and those that a line before has defined. */
class KnownKinds {
  readonly #registry = new KindRegistry()
  readonly #defined = new Set<string>()

  take(object: Stored): void {
    if (object.kind !== 'CustomResourceDefinition') return
    const { group, names } = specOf(object)
    this.#defined.add(`${group}/${names.kind}`)
  }

  has({ apiVersion, kind }: Partial<Stored>): boolean {
    if (typeof apiVersion !== 'string' || typeof kind !== 'string') return false
    const key = `${groupIn(apiVersion)}/${kind}`
    return this.#defined.has(key) || this.#registry.ofObject({ apiVersion, kind }) !== undefined
  }
}

/**
 * Keeps objects in a file of JSON lines, one a write, which its owner alone may read: there are Secrets in it. Each line
 * ends in a sum of all lines up to it, and a mark beside the file tells the last one. A line that a kill has cut short is
 * left out when its write was not answered.
 *
 * @param onLoss hears which writes a power cut has taken
 * @throws UserError `kube-objects` with file and line where the file is damaged, is not whole, or cannot be used
 */
export function openObjectFile(path: string, onLoss: (sentence: string) => void = () => {}): ObjectFile {
  const objects = new Map<string, Stored>()
  let resourceVersion = 1
  const take = (line: ObjectLine): void => {
    resourceVersion = Math.max(resourceVersion, line.resourceVersion)
    applyLine(objects, line)
  }
  const found = linesIn(path)
  if (found.damage) throw found.damage
  checkStanding(path, found.contents, onLoss)
  for (const line of found.lines) take(line)
  const writes = typeof found.contents === 'string' ? 0 : found.contents.commits
  let file = rewritten(path, objects, { resourceVersion, writes: writes + 1 })
  const mark = new OpenMark(path, { ...file.seal, state: 'open', boot: hostBoot(), durable: false })
  let changes = 0
  return {
    objects: [...objects.values()],
    resourceVersion,
    keep(object, isDeleted) {
      const line: ObjectLine = {
        resourceVersion: Number(object.metadata.resourceVersion),
        object,
        ...defined({ deleted: isDeleted ? (true as const) : undefined }),
      }
      const { text, digest } = sealedLine(line, file.seal.digest)
      try {
        appendFileSync(file.descriptor, text)
      } catch (error) {
        // Part of a line would spoil the one that follows.
        ftruncateSync(file.descriptor, file.length)
        const why = errorChain(error).join(': ')
        throw isDiskFull(error)
          ? kubeRefusal(507, 'InternalError', `the disk of the state folder is full: ${why}`)
          : kubeRefusal(500, 'InternalError', `the object cannot be kept in the state folder: ${why}`)
      }
      file.length += Buffer.byteLength(text)
      file.seal = { commits: file.seal.commits + 1, rows: file.seal.rows + 1, digest }
      mark.advance(file.seal)
      changes += text.length
      take(line)
      if (changes < MAX_APPENDED_BYTES) return
      const before = file.descriptor
      file = rewritten(path, objects, { resourceVersion, writes: file.seal.commits + 1 })
      mark.advance(file.seal)
      changes = 0
      closeSync(before)
    },
    [Symbol.dispose]: () => {
      closeSync(file.descriptor)
      mark.close(true)
    },
  }
}

/** The readable objects of a file, and its problem. */
export interface CheckedObjects {
  readonly objects: number
  /** Null for one that is whole. */
  readonly problem: string | null
}

/** Looks at a file of objects, which stays as it is; null when there is none and never was. */
export function checkObjectFile(path: string): CheckedObjects | null {
  const { lines, contents, damage } = linesIn(path)
  const objects = objectsOf(lines).size
  try {
    if (damage) throw damage
    let problem: string | null = null
    checkStanding(path, contents, (sentence) => (problem = sentence))
    return contents === 'missing' ? null : { objects, problem }
  } catch (error) {
    return { objects, problem: errorChain(error).join(': ') }
  }
}

/**
 * Puts a file with what can be read in the place of a damaged one, which is kept.
 *
 * @returns the new path of the damaged file
 */
export function repairObjectFile(path: string): string {
  const { lines } = linesIn(path)
  const resourceVersion = lines.reduce((last, line) => Math.max(last, line.resourceVersion), 1)
  const aside = unusedName(`${path}.damaged`)
  if (existsSync(path)) copyFileSync(path, aside, constants.COPYFILE_EXCL)
  const { descriptor, seal } = rewritten(path, objectsOf(lines), { resourceVersion, writes: 1 })
  closeSync(descriptor)
  replaceMark(path, { ...seal, state: 'closed', boot: hostBoot(), durable: false })
  return aside
}

function unusedName(wanted: string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}-${n}`
    if (!existsSync(name)) return name
  }
}

/** The objects after all writes. */
function objectsOf(lines: readonly ObjectLine[]): Map<string, Stored> {
  const objects = new Map<string, Stored>()
  for (const line of lines) applyLine(objects, line)
  return objects
}

function applyLine(objects: Map<string, Stored>, { object, deleted }: ObjectLine): void {
  if (!object) return
  if (deleted) objects.delete(objectKeyOf(object))
  else objects.set(objectKeyOf(object), object)
}

/** Refuses a file that does not have all writes that were answered. */
function checkStanding(path: string, found: DatabaseContents, onLoss: (sentence: string) => void): void {
  const standing = standingOf(path, found, markOf(path), { boot: hostBoot(), log: 'none' })
  if (standing.kind === 'torn') throw damaged(path, standing.sentence)
  if (standing.kind === 'behind') onLoss(standing.sentence)
}

function markOf(path: string): CommitMark | undefined {
  try {
    return readMark(path)
  } catch (cause) {
    throw damaged(path, `${markFile(path)} cannot be read`, cause)
  }
}

const damaged = (path: string, sentence: string, cause?: unknown): UserError =>
  new UserError('kube-objects', `the objects of the Kubernetes API in ${path} are not all there: ${sentence}`, {
    remedy: `restore the file, or continue with the readable objects: ironstage state repair --state-dir ${dirname(path)}`,
    cause,
  })

/** A line with the sum of all lines up to it. */
function sealedLine(line: ObjectLine, before: number): { text: string; digest: number } {
  const content = JSON.stringify(line)
  const digest = crc32(content, before)
  return { text: `${content}\t${digest}\n`, digest }
}

interface FoundLines {
  /** Up to the first damaged one. */
  lines: ObjectLine[]
  contents: DatabaseContents
  damage: UserError | undefined
}

function linesIn(path: string): FoundLines {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return { lines: [], contents: 'missing', damage: undefined }
    throw new UserError('kube-objects', `the objects of the Kubernetes API in ${path} cannot be read`, { cause })
  }
  const texts = text.split('\n')
  // Empty after the last line end, or what a kill has cut short.
  texts.pop()
  const isOlder = texts[0] !== undefined && !texts[0].includes('\t')
  const lines: ObjectLine[] = []
  const kinds = new KnownKinds()
  let digest = 0
  let damage: UserError | undefined
  for (const each of texts) {
    const [content = '', sum] = isOlder ? [each] : each.split('\t')
    const sealed = crc32(content, digest)
    try {
      if (!isOlder && String(sealed) !== sum) throw new Error('it is not as it was written')
      lines.push(checkObjectLine(JSON.parse(content), kinds))
    } catch (cause) {
      damage = damagedLine(path, lines.length + 1, cause)
      break
    }
    digest = sealed
  }
  return { lines, contents: isOlder ? 'older' : sealOf(lines, digest), damage }
}

const damagedLine = (path: string, line: number, cause: unknown): UserError =>
  new UserError('kube-objects', `${path}:${line} is not an object of the Kubernetes API`, {
    remedy: `continue with the lines before it: ironstage state repair --state-dir ${dirname(path)}`,
    cause,
  })

function sealOf(lines: readonly ObjectLine[], digest: number): DatabaseContents {
  const [first] = lines
  if (first === undefined) return 'empty'
  const { writes = 0, objects = 0 } = first
  return { commits: writes + lines.length - 1 - objects, rows: lines.length, digest }
}

function checkObjectLine(value: unknown, kinds: KnownKinds): ObjectLine {
  const { resourceVersion, object } = (value ?? {}) as Partial<ObjectLine>
  if (!Number.isSafeInteger(resourceVersion)) throw new Error('it has no resourceVersion')
  if (object === undefined) return value as ObjectLine
  const { kind, metadata } = object as Partial<Stored>
  if (!kinds.has(object)) throw new Error(`there is no kind ${String(kind)}`)
  if (typeof metadata?.name !== 'string' || typeof metadata.uid !== 'string') throw new Error('it has no name or uid')
  kinds.take(object)
  return value as ObjectLine
}

/** Writes the present objects to a new file in place of the old one, and opens it for more. It counts as a write. */
function rewritten(
  path: string,
  objects: ReadonlyMap<string, Stored>,
  { resourceVersion, writes }: { resourceVersion: number; writes: number },
): { descriptor: number; length: number; seal: Seal } {
  const lines: ObjectLine[] = [
    { resourceVersion, writes, objects: objects.size },
    ...[...objects.values()].map((object) => ({ resourceVersion: Number(object.metadata.resourceVersion), object })),
  ]
  let digest = 0
  const texts = lines.map((line) => {
    const sealed = sealedLine(line, digest)
    digest = sealed.digest
    return sealed.text
  })
  const text = texts.join('')
  try {
    replaceFileSync(path, text)
    const seal = { commits: writes, rows: lines.length, digest }
    return { descriptor: openSync(path, 'a'), length: Buffer.byteLength(text), seal }
  } catch (cause) {
    throw new UserError('kube-objects', `the objects of the Kubernetes API cannot be kept in ${path}`, {
      remedy: 'check the permissions and the space of the state folder',
      cause,
    })
  }
}
