import { dirname, resolve } from 'node:path'
import { LineCounter, parseAllDocuments, parseDocument } from 'yaml'
import {
  checkNesting,
  isObject,
  readNamedText,
  readNested,
  UserError,
  yamlPlace,
  yamlProblem,
} from '../../../base/runtime/index.js'
import { ERRORS } from '../errors.js'
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
 * @throws UserError `scenario-file` (usage) with file and line: of the step for a file that cannot be read, or in that file
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
  return found
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
