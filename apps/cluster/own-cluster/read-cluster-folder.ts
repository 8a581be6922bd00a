import { LineCounter, parseAllDocuments, type Document } from 'yaml'
import {
  checkNesting,
  countText,
  isObject,
  readNamedText,
  readNested,
  UserError,
  yamlPlace,
  yamlProblem,
} from '../../../base/runtime/index.js'
import { schemaCheck, schemaProblem } from '../../../base/schemas/index.js'
import { clusterFiles, isPlayedPlace, type ClusterFile } from './cluster-files.js'
import { clusterFolderError } from './cluster-folder-error.js'
import { PLAYED_KINDS } from './own-kinds.js'
import type { OwnKind, OwnKinds, OwnObjects } from './own-objects.js'

/** The objects of a cluster in a folder. */
export interface ClusterFolder {
  folder: string
  objects: OwnObjects
  /** Kinds that a rehearsal does not play, and how many objects of each there are. */
  unplayed: Readonly<Record<string, number>>
  /** Number of Secrets, none of which is read. */
  secrets: number
  /** Sentences on files and objects that were passed over. */
  notes: readonly string[]
}

type AnyOwnObject = OwnKinds[OwnKind]

/** Objects by what identifies them: a must-gather of several images has some of them twice. */
class GatheredObjects {
  readonly unplayed: Record<string, number> = {}
  readonly notes: string[] = []
  secrets = 0
  readonly #found = new Map<string, { object: AnyOwnObject; file: string }>()
  /** The first ClusterVersion, with its file. */
  #cluster: { id: string; file: string } | undefined

  count(kind: string, number: number): void {
    if (kind === 'Secret') this.secrets += number
    else this.unplayed[kind] = (this.unplayed[kind] ?? 0) + number
  }

  take(object: AnyOwnObject, file: string): void {
    const { kind, metadata } = object
    if (kind === 'ClusterVersion') this.#checkCluster(object.spec.clusterID, file)
    this.#found.set(`${kind}/${metadata.namespace ?? ''}/${metadata.name}`, { object, file })
  }

  /** @throws UserError `cluster-folder` (usage) for objects of a second cluster */
  #checkCluster(id: string, file: string): void {
    this.#cluster ??= { id, file }
    if (this.#cluster.id === id) return
    throw clusterFolderError(
      `the folder has two clusters: ${this.#cluster.file} is of ${this.#cluster.id}, and ${file} of ${id}`,
      { remedy: 'name a folder with the objects of one cluster' },
    )
  }

  get objects(): OwnObjects {
    const all = [...this.#found.values()].map(({ object }) => object)
    const named = (a: AnyOwnObject, b: AnyOwnObject): number => (a.metadata.name < b.metadata.name ? -1 : 1)
    const kinds = Object.keys(PLAYED_KINDS) as OwnKind[]
    const lists = kinds.map((kind) => [kind, all.filter((one) => one.kind === kind).sort(named)])
    return Object.fromEntries(lists) as OwnObjects
  }
}

/**
 * Reads the objects of a cluster: a must-gather, or outputs of `oc get -o yaml` and `-o json`. Secrets are counted, and
 * never parsed.
 *
 * @throws UserError `cluster-folder` (usage) with file and line of the first thing that is wrong
 */
export async function readClusterFolder(folder: string): Promise<ClusterFolder> {
  const gathered = new GatheredObjects()
  for (const file of await clusterFiles(folder)) await readClusterFile(file, gathered)
  const { objects, unplayed, secrets, notes } = gathered
  if (objects.ClusterVersion.length === 0)
    throw clusterFolderError(`${folder} has no ClusterVersion, which says what the cluster runs`, {
      remedy: 'gather again, or add it: oc get clusterversion -o yaml > FOLDER/clusterversion.yaml',
    })
  return { folder, objects, unplayed, secrets, notes }
}

async function readClusterFile(file: ClusterFile, gathered: GatheredObjects): Promise<void> {
  const { path, shown, place, isLink } = file
  if (isLink) {
    gathered.notes.push(`${shown} is a link, and is passed over: copy what it leads to`)
    return
  }
  const text = await readNamedText(path).catch((cause: unknown) => {
    throw clusterFolderError(`${shown} cannot be read`, { cause })
  })
  if (place && !isPlayedPlace(place)) {
    const counted = countedKind(text, place.resource)
    gathered.count(counted.kind, counted.number)
    return
  }
  checkText(text, shown)
  checkEnd(text, shown, place !== undefined)
  if (text.trim() === '') gathered.notes.push(`${shown} is empty`)
  for (const { value, lineOf } of documentsIn(text, shown)) {
    if (value === null || value === undefined) continue
    for (const { object, at } of objectsIn(value, shown)) takeObject(object, { at, lineOf, shown }, gathered)
  }
}

/** Kind and number of the objects in a file that is not parsed. */
function countedKind(text: string, resource: string): { kind: string; number: number } {
  const [, own = ''] = /^kind: ([A-Za-z]+)$/m.exec(text) ?? []
  if (own !== '' && !own.endsWith('List')) return { kind: own, number: 1 }
  const [, item = ''] = /^ +kind: ([A-Z][A-Za-z]*)$/m.exec(text) ?? []
  const kind = own.replace(/List$/, '') || (resource === 'secrets' ? 'Secret' : item || resource)
  return { kind, number: text.match(/^(?: {2})?- [a-z]/gm)?.length ?? 0 }
}

/** PowerShell writes the output of a command in UTF-16 by default. */
function checkText(text: string, shown: string): void {
  if (!text.includes('\0')) return
  throw clusterFolderError(`${shown} is no text in UTF-8`, {
    remedy: 'write it again in UTF-8: in PowerShell with | Out-File -Encoding utf8 FILE',
  })
}

/** Every file that `oc` writes ends with a line end. */
function checkEnd(text: string, shown: string, isGathered: boolean): void {
  const remedy = 'copy it again from where it was gathered'
  if (text.trim() === '') {
    if (isGathered) throw clusterFolderError(`${shown} is empty: it is cut off`, { remedy })
    return
  }
  if (!isGathered || text.endsWith('\n')) return
  const line = text.split('\n').length
  throw clusterFolderError(`${shown}:${line} ends in the middle of a line: the file is cut off`, { remedy })
}

interface ReadDocument {
  value: unknown
  /** Line of a value, counted from 1. */
  lineOf: (path: readonly (string | number)[]) => number | undefined
}

function documentsIn(text: string, shown: string): ReadDocument[] {
  const lines = new LineCounter()
  const parsed = readUsable(text, shown, (each) => parseAllDocuments(each, { lineCounter: lines, uniqueKeys: false }))
  const documents: readonly Document[] = Array.isArray(parsed) ? parsed : []
  return documents.map((document) => {
    const [error] = document.errors
    if (error) {
      const { line, col, message } = yamlProblem(text, error)
      throw clusterFolderError(`${shown}:${line}:${col}: ${message}`, {
        remedy: 'copy it again from where it was gathered: it may be cut off',
      })
    }
    const value = readUsable(text, shown, () => {
      const plain = document.toJS({ maxAliasCount: 100 }) as unknown
      checkNesting(plain, shown)
      return plain
    })
    return { value, lineOf: (path) => yamlPlace(document, path, lines)?.line }
  })
}

/** A file that is nested too deeply, or repeats itself too often, is as wrong here as one that is cut off. */
function readUsable<T>(text: string, shown: string, read: (text: string) => T): T {
  try {
    return readNested(text, shown, read)
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause
    throw clusterFolderError(cause.message, {
      remedy: 'leave the file out, or copy it again from where it was gathered',
    })
  }
}

interface PlacedObject {
  object: Record<string, unknown>
  at: (string | number)[]
}

/** The objects of a document: itself, or the items of a list, which may leave their kind to it. */
function objectsIn(value: unknown, shown: string): PlacedObject[] {
  if (!isObject(value)) throw clusterFolderError(`${shown} has no object of Kubernetes`)
  const { kind, apiVersion, items } = value
  if (Array.isArray(items)) {
    if (typeof kind !== 'string')
      throw clusterFolderError(`${shown} has items and no kind: the list is cut off`, {
        remedy: 'copy it again from where it was gathered',
      })
    const ofItems = kind === 'List' ? {} : { apiVersion, kind: kind.replace(/List$/, '') }
    return items.map((item: unknown, index) => {
      if (!isObject(item)) throw clusterFolderError(`items[${index}] of ${shown} is no object`)
      return { object: { ...ofItems, ...item }, at: ['items', index] }
    })
  }
  return [{ object: value, at: [] }]
}

interface ObjectPlace {
  at: readonly (string | number)[]
  lineOf: ReadDocument['lineOf']
  shown: string
}

function takeObject(sent: Record<string, unknown>, place: ObjectPlace, gathered: GatheredObjects): void {
  const object = withoutNulls(sent)
  const { kind, apiVersion } = object
  const { shown, at } = place
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') {
    const line = place.lineOf(at)
    gathered.notes.push(`${shown}${line === undefined ? '' : `:${line}`} has no kind, and is passed over`)
    return
  }
  const played = Object.hasOwn(PLAYED_KINDS, kind) ? PLAYED_KINDS[kind as OwnKind] : undefined
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  // Cluster API has Machines and MachineSets of its own.
  if (!played || played.group !== group) return gathered.count(kind, 1)
  if (!played.versions.includes(version))
    throw wrongObject(object, ['apiVersion'], place, `it is of ${apiVersion}: ${played.versions.join(', ')} is known`)
  const namespace = isObject(object['metadata']) ? object['metadata']['namespace'] : undefined
  if (played.namespaces && !played.namespaces.includes(String(namespace)))
    return gathered.count(`${kind} of other namespaces`, 1)
  const check = schemaCheck<AnyOwnObject>(played.schema)
  if (!check.accepts(object)) {
    const problem = schemaProblem(check.errors())
    throw wrongObject(object, problem.path, place, problem.message)
  }
  if (isGenerated(object)) return
  gathered.take(object, shown)
}

/** An object as an API server keeps it: members that are null are not there. */
function withoutNulls(object: Record<string, unknown>): Record<string, unknown> {
  const clean = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(clean) : isObject(value) ? withoutNulls(value) : value
  const present = Object.entries(object).filter(([, value]) => value !== null)
  return Object.fromEntries(present.map(([key, value]) => [key, clean(value)]))
}

/** Rendered configurations follow from the others, which are rendered again. */
const isGenerated = ({ kind, metadata }: AnyOwnObject): boolean =>
  kind === 'MachineConfig' && metadata.name.startsWith('rendered-')

function wrongObject(
  { kind, metadata }: Record<string, unknown>,
  path: readonly (string | number)[],
  { at, lineOf, shown }: ObjectPlace,
  message: string,
) {
  const name = isObject(metadata) && typeof metadata['name'] === 'string' ? ` ${metadata['name']}` : ''
  const line = lineOf([...at, ...path.map((part) => (/^\d+$/.test(String(part)) ? Number(part) : part))])
  const where = line === undefined ? shown : `${shown}:${line}`
  return clusterFolderError(`${where}: the ${String(kind)}${name} cannot be used: ${message}`)
}

export const secretsNote = (secrets: number): string | undefined =>
  secrets === 0
    ? undefined
    : `${countText(secrets, 'Secret')} of the folder ${secrets === 1 ? 'is' : 'are'} not read: accounts and passwords are made up`
