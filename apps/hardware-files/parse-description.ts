import { parseAllDocuments, type Document } from 'yaml'
import { checkNesting, readNested, UserError, yamlProblem } from '../../base/runtime/index.js'

/** Bytes of YAML that are read: its parser takes seconds for a megabyte. JSON may have all that a file may have. */
const MAX_YAML_BYTES = 4 * 2 ** 20

/**
 * The documents of a file in JSON or YAML.
 *
 * @param name of the file, for errors
 * @throws UserError `hardware-import`, `nested-too-deeply`, `too-many-aliases` (usage)
 */
export function parseDescription(bytes: Uint8Array, name: string): unknown[] {
  const text = textOf(bytes, name)
  if (text.trim() === '') throw unreadable(`${name} is empty`)
  const isJson = /^\s*[[{]/.test(text)
  const values = isJson ? parsedJson(text) : undefined
  if (values) {
    checkNesting(values[0], name)
    return values
  }
  if (bytes.length > MAX_YAML_BYTES)
    throw unreadable(
      isJson
        ? `${name} begins as JSON and is none: it may be cut off`
        : `${name} has more than ${MAX_YAML_BYTES / 2 ** 20} MiB of YAML: write it as JSON`,
    )
  return parsedYaml(text, name, isJson)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function textOf(bytes: Uint8Array, name: string): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw unreadable(`${name} is no text in UTF-8`, cause)
  }
}

function parsedJson(text: string): unknown[] | undefined {
  try {
    return [JSON.parse(text)]
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function parsedYaml(text: string, name: string, isJson: boolean): unknown[] {
  const documents = readNested(text, name, (each) =>
    parseAllDocuments(each, { prettyErrors: false, logLevel: 'error' }),
  )
  // An empty stream is an object that has no documents.
  const all: readonly Document[] = Array.isArray(documents) ? documents : []
  return all.flatMap((document) => {
    const [broken] = document.errors
    if (broken) {
      const { line, message } = yamlProblem(text, broken)
      throw unreadable(
        isJson
          ? `${name} is neither JSON nor YAML, and may be cut off: see line ${line}`
          : `${name}, line ${line}: ${message}`,
      )
    }
    const value = readNested('', name, () => document.toJS({ maxAliasCount: 100 }) as unknown)
    checkNesting(value, name)
    return value === null ? [] : [value]
  })
}

/** The error of a file that is no description of a machine. */
export const unreadable = (message: string, cause?: unknown): UserError =>
  new UserError('hardware-import', message, {
    kind: 'usage',
    cause,
    remedy:
      'give what baremetal node inventory save, kubectl get hardwaredata -o yaml or lshw -json has written, whole and as text',
  })
