import { dirname, resolve } from 'node:path'
import { LineCounter, parseAllDocuments, parseDocument } from 'yaml'
import {
  checkNesting,
  defined,
  isObject,
  nearestWord,
  readNamedText,
  readNested,
  UserError,
  yamlPlace,
  yamlProblem,
} from '../../../base/runtime/index.js'
import { KindRegistry } from '../../../base/kubernetes/index.js'
import { ERRORS } from '../errors.js'
import { kindNamed } from './kind-names.js'
import type { ScenarioFile } from './scenario.js'

/** An object of a file that a step applies or deletes. */
export interface ScenarioObject {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string }
  [member: string]: unknown
}

/** Objects of the files that steps name, by those names. */
export type ScenarioManifests = Readonly<Record<string, readonly ScenarioObject[]>>

/**
 * Reads the files that the steps `apply` and `delete` of a scenario name, relative to the scenario's own.
 *
 * @throws UserError `scenario-file` (usage) with file and line: of the step for a file that cannot be read and for a kind that
 *   nothing defines, or in that file
 */
export async function readScenarioManifests(
  file: string,
  text: string,
  { steps }: Pick<ScenarioFile, 'steps'>,
): Promise<ScenarioManifests> {
  const found: Record<string, readonly ScenarioObject[]> = {}
  for (const [index, step] of steps.entries()) {
    const key = 'apply' in step ? 'apply' : 'delete' in step ? 'delete' : undefined
    if (key === undefined) continue
    const named = 'apply' in step ? step.apply : 'delete' in step ? step.delete : ''
    if (found[named]) continue
    const path = resolve(dirname(file), named)
    const manifest = await readNamedText(path).catch((cause: unknown) => {
      throw manifestError(`${file}${lineOf(text, ['steps', index, key])}: the file ${named} cannot be read`, cause)
    })
    found[named] = objectsIn(named, manifest)
  }
  const unknown = unknownKind(steps, Object.values(found).flat())
  if (unknown) throw manifestError(`${file}${lineOf(text, unknown.path)}: ${unknown.message}`)
  return found
}

/** The first kind that a step waits for, or expects a condition of, and that neither the cluster nor a file defines. */
function unknownKind(
  steps: ScenarioFile['steps'],
  objects: readonly ScenarioObject[],
): { path: (string | number)[]; message: string } | undefined {
  const kinds = new KindRegistry()
  const brought = new Set(objects.flatMap(definedNames))
  for (const [index, step] of steps.entries()) {
    const { kind, path } = kindIn(step)
    if (kind === undefined || kindNamed(kinds, kind) || brought.has(kind.toLowerCase())) continue
    const near = nearestWord(
      kind,
      kinds.all().map((entry) => entry.kind),
    )
    const help = near === undefined ? ', and no file that a step applies defines it' : `; did you mean ${near}?`
    return { path: ['steps', index, ...path], message: `the cluster has no kind ${kind}${help}` }
  }
  return undefined
}

/** The kind of the one object that a step is about. */
function kindIn(step: ScenarioFile['steps'][number]): { kind?: string; path: string[] } {
  if ('wait' in step && typeof step.wait === 'object') return { kind: step.wait.kind, path: ['wait', 'kind'] }
  const of = 'expect' in step && 'condition' in step.expect ? step.expect.of.split('/')[0] : undefined
  return { path: ['expect', 'of'], ...defined({ kind: of }) }
}

/** Lower-case names of the kind that a definition brings; none of another object. */
function definedNames({ kind, metadata, spec }: ScenarioObject): string[] {
  const names = isObject(spec) && isObject(spec['names']) ? spec['names'] : undefined
  if (kind !== 'CustomResourceDefinition' || !names) return []
  const short: unknown[] = Array.isArray(names['shortNames']) ? names['shortNames'] : []
  const all = [metadata.name, names['kind'], names['plural'], names['singular'], ...short]
  return all.filter((name) => typeof name === 'string').map((name) => name.toLowerCase())
}

/** `:12:5` */
function lineOf(text: string, path: (string | number)[]): string {
  const lines = new LineCounter()
  const place = yamlPlace(parseDocument(text, { lineCounter: lines }), path, lines, 'value')
  return place ? `:${place.line}:${place.col}` : ''
}

const manifestError = (message: string, cause?: unknown): UserError =>
  new UserError('scenario-file', message, { kind: 'usage', remedy: ERRORS['scenario-file'].remedy, cause })

function objectsIn(file: string, text: string): ScenarioObject[] {
  const lines = new LineCounter()
  const parsed = readNested(text, file, (each) => parseAllDocuments(each, { lineCounter: lines, uniqueKeys: false }))
  const objects: ScenarioObject[] = []
  for (const document of Array.isArray(parsed) ? parsed : []) {
    const [error] = document.errors
    if (error) {
      const { line, col, message } = yamlProblem(text, error)
      throw manifestError(`${file}:${line}:${col}: ${message}`)
    }
    const value = readNested(text, file, () => document.toJS({ maxAliasCount: 100 }) as unknown)
    checkNesting(value, file)
    if (value === null || value === undefined) continue
    const items = isObject(value) && Array.isArray(value['items']) ? (value['items'] as unknown[]) : [value]
    for (const item of items) {
      if (!isScenarioObject(item)) {
        const place = yamlPlace(document, [], lines)
        throw manifestError(
          `${file}${place ? `:${place.line}` : ''}: an object lacks apiVersion, kind or metadata.name`,
        )
      }
      objects.push(item)
    }
  }
  if (objects.length === 0) throw manifestError(`${file} has no object of Kubernetes`)
  return objects
}

function isScenarioObject(value: unknown): value is ScenarioObject {
  if (!isObject(value) || !isObject(value['metadata'])) return false
  const { apiVersion, kind, metadata } = value
  const texts = [apiVersion, kind, (metadata as Record<string, unknown>)['name']]
  return texts.every((text) => typeof text === 'string' && text !== '')
}
