import { appendFileSync, closeSync, ftruncateSync, openSync, readFileSync } from 'node:fs'
import { errorChain, isDiskFull, replaceFileSync, UserError } from '../../runtime/index.js'
import { KINDS, type Kind } from './kinds.js'
import { refusal } from './refusals.js'
import type { Stored } from './stored-object.js'

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
interface Line {
  resourceVersion: number
  object?: Stored
  deleted?: true
}

/** Bytes of changes after which the file is written anew. */
const MOST_CHANGES = 16 * 1024 * 1024

const keyOf = ({ kind, metadata: { namespace = '', name } }: Stored): string => `${kind}/${namespace}/${name}`

/**
 * Keeps objects in a file of JSON lines, one a write, which its owner alone may read: there are Secrets in it. A line that a
 * kill has cut short is left out: its write was not answered.
 *
 * @throws UserError `kube-objects` with file and line where the file is damaged, or cannot be used
 */
export function openObjectFile(path: string): ObjectFile {
  const objects = new Map<string, Stored>()
  let resourceVersion = 1
  const take = ({ resourceVersion: version, object, deleted }: Line): void => {
    resourceVersion = Math.max(resourceVersion, version)
    if (!object) return
    if (deleted) objects.delete(keyOf(object))
    else objects.set(keyOf(object), object)
  }
  for (const line of linesIn(path)) take(line)
  let file = rewritten(path, objects, resourceVersion)
  let changes = 0
  return {
    objects: [...objects.values()],
    resourceVersion,
    keep(object, isDeleted) {
      const line: Line = {
        ...{ resourceVersion: Number(object.metadata.resourceVersion), object },
        ...(isDeleted ? { deleted: true } : {}),
      }
      const text = `${JSON.stringify(line)}\n`
      try {
        appendFileSync(file.descriptor, text)
      } catch (error) {
        // Part of a line would spoil the one that follows.
        ftruncateSync(file.descriptor, file.length)
        const why = errorChain(error).join(': ')
        throw isDiskFull(error)
          ? refusal(507, 'InternalError', `the disk of the state folder is full: ${why}`)
          : refusal(500, 'InternalError', `the object cannot be kept in the state folder: ${why}`)
      }
      file.length += Buffer.byteLength(text)
      changes += text.length
      take(line)
      if (changes < MOST_CHANGES) return
      const before = file.descriptor
      file = rewritten(path, objects, resourceVersion)
      changes = 0
      closeSync(before)
    },
    [Symbol.dispose]: () => closeSync(file.descriptor),
  }
}

function linesIn(path: string): Line[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new UserError('kube-objects', `the objects of the Kubernetes API in ${path} cannot be read`, { cause })
  }
  const lines = text.split('\n')
  // Empty after the last line end, or what a kill has cut short.
  lines.pop()
  return lines.map((line, index) => {
    try {
      return checked(JSON.parse(line))
    } catch (cause) {
      throw new UserError('kube-objects', `${path}:${index + 1} is not an object of the Kubernetes API`, {
        remedy: `delete that line, or move the file away to begin without objects: mv ${path} ${path}.damaged`,
        cause,
      })
    }
  })
}

function checked(value: unknown): Line {
  const { resourceVersion, object } = (value ?? {}) as Partial<Line>
  if (!Number.isSafeInteger(resourceVersion)) throw new Error('it has no resourceVersion')
  if (object === undefined) return value as Line
  const { kind, metadata } = object as Partial<Stored>
  if (!Object.hasOwn(KINDS, kind as Kind)) throw new Error(`there is no kind ${String(kind)}`)
  if (typeof metadata?.name !== 'string' || typeof metadata.uid !== 'string') throw new Error('it has no name or uid')
  return value as Line
}

/** Writes the present objects to a new file in place of the old one, and opens it for more. */
function rewritten(path: string, objects: ReadonlyMap<string, Stored>, resourceVersion: number) {
  const lines: Line[] = [
    { resourceVersion },
    ...[...objects.values()].map((object) => ({ resourceVersion: Number(object.metadata.resourceVersion), object })),
  ]
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  try {
    replaceFileSync(path, text)
    return { descriptor: openSync(path, 'a'), length: Buffer.byteLength(text) }
  } catch (cause) {
    throw new UserError('kube-objects', `the objects of the Kubernetes API cannot be kept in ${path}`, {
      remedy: 'check the permissions and the space of the state folder',
      cause,
    })
  }
}
