import type { ErrorObject } from 'ajv'
import { isScalar, LineCounter, parseAllDocuments, visit, type Document, type YAMLError } from 'yaml'
import {
  completeValue,
  CRD_COMPILER_OPTIONS,
  fieldPathText,
  MANIFEST_SCHEMAS,
  pruneValue,
  type ManifestKind,
} from '../../base/kubernetes/index.js'
import {
  checkNesting,
  markedLine,
  nearestWord,
  pointerParts,
  readNested,
  UserError,
  wrongLine,
  yamlPlace,
  yamlProblem,
} from '../../base/runtime/index.js'
import { SchemaCompiler } from '../../base/schemas/index.js'
import type { Complaint } from './manifest-rules.js'
import type { Metal3Manifest } from './manifest-types.js'

/** An error or a note about a manifest file. */
export interface ManifestFinding {
  kind: 'error' | 'note'
  file: string
  /** Counted from 1; null for the file as a whole. */
  document: number | null
  /** As in `spec.raid.hardwareRAIDVolumes[0].level`; empty for the document itself. */
  path: string
  line: number | null
  column: number | null
  message: string
  /** The line of an error, and a mark below its column; never of a Secret. */
  shown?: readonly string[]
}

/** One document of a file. */
export interface ReadManifest {
  file: string
  document: number
  manifest: Metal3Manifest
  /** Makes a finding with the line and column of `path`. */
  finding(kind: ManifestFinding['kind'], path: readonly (string | number)[], message: string): ManifestFinding
}

const manifestSchemas = new SchemaCompiler(CRD_COMPILER_OPTIONS)

/** Reads the Kubernetes objects of a file: valid ones of known kinds, and findings for the rest. */
export function readManifests(file: string, text: string): { manifests: ReadManifest[]; findings: ManifestFinding[] } {
  const manifests: ReadManifest[] = []
  const findings: ManifestFinding[] = []
  const lines = new LineCounter()
  const whole = (message: string): ManifestFinding => ({
    kind: 'error',
    file,
    document: null,
    path: '',
    line: null,
    column: null,
    message,
  })
  // kubectl sends the last of equal keys, without a word.
  const options = { lineCounter: lines, uniqueKeys: false }
  const parsed = readOrExplain(() => readNested(text, 'it', (each) => parseAllDocuments(each, options)))
  if ('problem' in parsed) return { manifests, findings: [whole(parsed.problem)] }
  const { value: documents } = parsed
  if (!Array.isArray(documents)) return { manifests, findings }
  for (const [index, document] of documents.entries()) {
    const maker = new FindingMaker({ file, text, document, lines, number: index + 1 })
    const { finding } = maker
    if (document.errors.length > 0) {
      for (const error of document.errors) findings.push(syntaxFinding(finding, text, error))
      continue
    }
    for (const { key, at } of repeatedKeys(document)) {
      const { line, col } = lines.linePos(at)
      const message = `the key ${key} is there twice: kubectl sends only the last one`
      findings.push({ ...finding('note', [], message), line, column: col })
    }
    const read = readOrExplain(() => {
      const value = readNested('', 'it', () => document.toJS() as unknown)
      checkNesting(value, 'it')
      return value
    })
    if ('problem' in read) {
      findings.push(finding('error', [], read.problem))
      continue
    }
    const { value } = read
    if (value === null) continue
    const kind = manifestKindOf(value)
    maker.objectKind = kind
    if (kind === undefined) findings.push(finding('error', [], withoutKind(value)))
    else if (!isManifestKind(kind)) findings.push(finding('note', ['kind'], withoutCall(kind)))
    else {
      const manifest = checkedManifest(kind, value)
      if ('complaints' in manifest)
        for (const [path, message] of manifest.complaints) findings.push(finding('error', path, message))
      else manifests.push({ file, document: index + 1, manifest, finding })
    }
  }
  return { manifests, findings }
}

/** A document, and the file that it comes from. */
interface DocumentSource {
  file: string
  text: string
  document: Document
  lines: LineCounter
  /** Place of the document in its file, from 1. */
  number: number
}

/** Makes the findings of one document. */
class FindingMaker {
  /** Kind that kubectl sends: of two keys `kind` the last. Undefined until it is read; then no line is shown. */
  objectKind: string | undefined
  readonly #source: DocumentSource

  constructor(source: DocumentSource) {
    this.#source = source
  }

  readonly finding: ReadManifest['finding'] = (kind, path, message) => {
    const { file, text, document, lines, number } = this.#source
    const place = yamlPlace(document, path, lines)
    const { line = null, col: column = null } = place ?? {}
    const found = { kind, file, document: number, path: fieldPathText(path), line, column, message }
    const isKnown = this.objectKind !== undefined && this.objectKind !== 'Secret'
    const isShown = kind === 'error' && place !== undefined && isKnown
    return isShown ? { ...found, shown: markedLine(wrongLine(text, place)) } : found
  }
}

function withoutCall(kind: string): string {
  const near = nearestWord(kind, Object.keys(MANIFEST_SCHEMAS))
  return `a ${kind} causes no call and is ignored${near === undefined ? '' : `; did you mean ${near}?`}`
}

function withoutKind(value: unknown): string {
  const isHostsFile = typeof value === 'object' && value !== null && 'hosts' in value
  return `this is no Kubernetes object: it has no kind${isHostsFile ? '; a hosts file is for ironstage run' : ''}`
}

function syntaxFinding(finding: ReadManifest['finding'], text: string, error: YAMLError): ManifestFinding {
  const { line, col, message, shown } = yamlProblem(text, error)
  // A line of a Secret may be its password, and the kind of a broken document is unknown.
  const isSecret = /\bkind\W+Secret\b/.test(text)
  return { ...finding('error', [], message), line, column: col, shown: isSecret ? [] : shown }
}

/** Keys that a mapping has again, with their positions. */
function repeatedKeys(document: Document): { key: string; at: number }[] {
  const found: { key: string; at: number }[] = []
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value) && key.range) found.push({ key: String(key.value), at: key.range[0] })
        seen.add(key.value)
      }
    },
  })
  return found
}

/** An object as an API server takes it: with its defaults, without nulls of absent fields, and of its schema. */
function checkedManifest(kind: ManifestKind, value: unknown): Metal3Manifest | { complaints: Complaint[] } {
  const schema = MANIFEST_SCHEMAS[kind]
  // As kubectl asks the API to do: fieldValidation=Strict.
  const { unknown, value: known } = pruneValue(value as never, schema)
  const complete = completeValue(known, schema)
  const check = manifestSchemas.check<Metal3Manifest>(schema)
  const isValid = check.accepts(complete)
  const complaints = [
    ...unknown.map((path) => unknownFieldComplaint(path, schema)),
    ...(isValid ? [] : schemaComplaints(check.errors())),
  ]
  if (!isValid || complaints.length > 0) return { complaints }
  // Go reads a host without a spec as one with an empty spec.
  const manifest: Metal3Manifest = complete
  return manifest.kind === 'BareMetalHost' ? { ...manifest, spec: manifest.spec ?? { online: false } } : manifest
}

function unknownFieldComplaint(path: readonly (string | number)[], schema: FieldSchema): Complaint {
  const near = nearestWord(String(path.at(-1)), fieldsAt(schema, path.slice(0, -1)))
  const meant = near === undefined ? '' : `; did you mean ${near}?`
  return [[...path], `strict decoding error: unknown field "${fieldPathText(path)}"${meant}`]
}

/** The fields that a schema has at a path. */
function fieldsAt(schema: FieldSchema, path: readonly (string | number)[]): string[] {
  const [step, ...below] = path
  if (step === undefined) return Object.keys(schema.properties ?? {})
  const next = typeof step === 'number' ? schema.items : schema.properties?.[step]
  return next === undefined ? [] : fieldsAt(next, below)
}

interface FieldSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>>
  readonly items?: FieldSchema
}

/** Result of `read`, or the message of its UserError. */
function readOrExplain<T>(read: () => T): { value: T } | { problem: string } {
  try {
    return { value: read() }
  } catch (error) {
    if (error instanceof UserError) return { problem: error.message }
    throw error
  }
}

const manifestKindOf = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && 'kind' in value && typeof value.kind === 'string'
    ? value.kind
    : undefined

const isManifestKind = (kind: string): kind is ManifestKind => Object.hasOwn(MANIFEST_SCHEMAS, kind)

function schemaComplaints(errors: readonly ErrorObject[]): Complaint[] {
  return errors.map((error) => {
    const path = pointerParts(error.instancePath).map((part) => (/^\d+$/.test(part) ? Number(part) : part))
    const params = error.params as Record<string, unknown>
    switch (error.keyword) {
      case 'required':
        return [path, `the field ${params['missingProperty'] as string} is missing`]
      case 'enum':
        return [path, `it must be one of ${(params['allowedValues'] as string[]).join(', ')}`]
      case 'const':
        return [path, `it must be ${JSON.stringify(params['allowedValue'])}`]
      case 'type':
        return [path, `it must be of type ${[params['type']].flat().join(' or ')}`]
      case 'pattern':
        return [path, `it must look like ${params['pattern'] as string}`]
      case 'format':
        return [path, `it must be a ${params['format'] as string}`]
      default:
        return [path, `it ${error.message ?? 'is wrong'}`]
    }
  })
}

/** `host.yaml: document 2, spec.online (line 4 col 3): it must be of type boolean` */
export function manifestFindingLine({ kind, file, document, path, line, column, message }: ManifestFinding): string {
  const where = [document === null ? '' : `document ${document}`, path].filter((part) => part !== '').join(', ')
  const place = line === null ? '' : ` (line ${line} col ${column})`
  return [file, ...(kind === 'note' ? ['note'] : []), ...(where === '' ? [] : [`${where}${place}`]), message].join(': ')
}
