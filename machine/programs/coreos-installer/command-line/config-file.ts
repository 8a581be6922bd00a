import {
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type Document,
  type Node,
  type Scalar,
} from 'yaml'
import { readNested } from '../../../../base/runtime/index.js'
import type { FileTree } from '../../../file-tree.js'
import { parseInstall } from './parse-install.js'
import { UsageError, type OptionSpec } from './clap.js'
import { duringInstall, Failure } from '../installer-error.js'
import { INSTALL_DEFAULTS, INSTALL_OPTIONS, type InstallOptions } from './installer-options.js'

/** Fields of a config file, in the order in which they become arguments. */
const CONFIG_FILE_FIELDS: readonly OptionSpec[] = [
  ...INSTALL_OPTIONS.filter((option) => option.long !== 'config-file' && option.long !== 'firstboot-args'),
  { long: 'dest-device', kind: 'value', placeholder: 'DEST_DEVICE' },
]

/**
 * Merges the YAML files of `--config-file` with the command line as coreos-installer does: all settings become one
 * argument list, files first, which is printed on stdout and parsed again.
 */
export async function expandConfigFiles(
  commandLine: InstallOptions,
  files: FileTree,
  stdout: (text: string) => void,
): Promise<InstallOptions> {
  if (commandLine.configFile.length === 0) return commandLine
  const args: string[] = []
  for (const path of commandLine.configFile) {
    const bytes = await duringInstall(`opening config file ${path}`, () => {
      if (files.exists(path) && files.stat(path).kind === 'directory') return undefined
      return files.read(path)
    })
    const settings = await duringInstall(`parsing config file ${path}`, () => readConfigFile(bytes))
    args.push(...serialise(settings))
  }
  args.push(...serialise(fromOptions(commandLine)))
  stdout(`Running with arguments: ${args.join(' ')}\n`)
  try {
    const options = parseInstall(args)
    if (typeof options === 'string') throw new Failure('the arguments ask for help')
    return { ...options, configFile: [] }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new Failure('reprocessing command-line arguments', new Failure(error.text))
  }
}

type Settings = Map<string, string | string[] | true>

/** Errors are those of serde_yaml 0.9, as recorded; only syntax errors have another parser's messages. */
function readConfigFile(bytes: Uint8Array | undefined): Settings {
  // A folder can be opened; the real installer fails when it reads it.
  if (!bytes) throw new Failure('Is a directory (os error 21)')
  const lines = new LineCounter()
  const text = Buffer.from(bytes).toString()
  const parse = (each: string) => parseAllDocuments(each, { lineCounter: lines, uniqueKeys: false })
  const documents = readNested(text, 'the config file', parse)
  const [document] = documents
  if (!Array.isArray(documents) || !document) return new Map()
  const settings = new ConfigReader(document, text, lines).read()
  if (documents.length > 1)
    throw new Failure('deserializing from YAML containing more than one document is not supported')
  const [error] = document.errors
  if (error) throw new Failure(error.message.split('\n')[0]!.replace(/:$/, ''))
  return settings
}

class ConfigReader {
  constructor(
    readonly document: Document,
    readonly text: string,
    readonly lines: LineCounter,
  ) {}

  read(): Settings {
    const settings: Settings = new Map()
    const { contents } = this.document
    if (contents === null || (isScalar(contents) && contents.value === null && !contents.source)) return settings
    if (!isMap(contents))
      throw new Failure(`invalid type: ${typeName(contents)}, expected struct InstallConfig${this.#at(contents)}`)
    const seen = new Set<string>()
    for (const { key: written, value } of contents.items.filter(isPair)) {
      const key = this.#resolved(written)
      if (!isScalar(key)) throw new Failure(`invalid type: ${typeName(key)}, expected field identifier${this.#at(key)}`)
      const name = readScalar(key)
      const field = CONFIG_FILE_FIELDS.find(({ long }) => long === name)
      if (!field) {
        const known = CONFIG_FILE_FIELDS.map(({ long }) => `\`${long}\``).join(', ')
        throw new Failure(`unknown field \`${name}\`, expected one of ${known}${this.#at(key)}`)
      }
      if (seen.has(name)) throw new Failure(`duplicate field \`${name}\`${this.#at(contents)}`)
      seen.add(name)
      const setting = this.#setting(field, this.#resolved(value))
      if (setting !== undefined) settings.set(name, setting)
    }
    return settings
  }

  #resolved(node: unknown): Node | null {
    const alias = node as { source?: string; resolve?: (document: Document) => Node | undefined } | null
    return alias && typeof alias.resolve === 'function' ? (alias.resolve(this.document) ?? null) : (node as Node | null)
  }

  #setting(field: OptionSpec, node: Node | null): string | string[] | true | undefined {
    switch (field.kind) {
      case 'flag': {
        const value = isScalar(node) ? node.value : undefined
        if (typeof value === 'boolean') return value || undefined
        throw this.#wrongType(field.long, node, 'a boolean')
      }
      case 'value':
        if (isScalar(node) && node.value === null) return undefined
        return this.#text(field, field.long, node)
      case 'list':
        if (!isSeq(node)) throw this.#wrongType(field.long, node, 'a sequence')
        return node.items.map((item, index) => this.#text(field, `${field.long}[${index}]`, this.#resolved(item)))
    }
  }

  #text(field: OptionSpec, path: string, node: Node | null): string {
    if (!isScalar(node)) throw this.#wrongType(path, node, 'a string')
    const text = readScalar(node)
    const wrong = field.kind === 'flag' ? undefined : field.check?.(text)
    if (wrong !== undefined) throw new Failure(`${path}: ${wrong}${this.#at(node)}`)
    return text
  }

  #wrongType(path: string, node: Node | null, expected: string): Failure {
    return new Failure(`${path}: invalid type: ${typeName(node)}, expected ${expected}${this.#at(node)}`)
  }

  /** Position of a node, with its tag and anchor. serde_yaml leaves out the beginning of the file. */
  #at(node: Node | null): string {
    const value = node?.range?.[0]
    if (value === undefined) return ''
    const properties = /(?:[&!]\S*\s+)*$/.exec(this.text.slice(0, value))![0].length
    if (value === properties) return ''
    const { line, col } = this.lines.linePos(value - properties)
    return ` at line ${line} column ${col}`
  }
}

/** Text of a scalar. A plain one is as it is written: 1.50 stays 1.50. */
const readScalar = (scalar: Scalar): string =>
  scalar.type === 'PLAIN' && scalar.source !== undefined ? scalar.source : String(scalar.value)

/** serde's name for the type of a node. */
function typeName(node: unknown): string {
  if (isMap(node)) return 'map'
  if (isSeq(node)) return 'sequence'
  if (!isScalar(node) || node.value === null) return 'unit value'
  switch (typeof node.value) {
    case 'boolean':
      return `boolean \`${node.value}\``
    case 'number':
      return Number.isInteger(node.value) ? `integer \`${node.value}\`` : `floating point \`${node.value}\``
    default:
      return `string "${String(node.value)}"`
  }
}

function fromOptions(options: InstallOptions): Settings {
  const values = options as unknown as Record<string, boolean | string | string[] | undefined>
  const settings: Settings = new Map()
  for (const { long } of CONFIG_FILE_FIELDS) {
    const value = values[long.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())]
    if (value !== undefined && value !== false) settings.set(long, value)
  }
  return settings
}

function serialise(settings: Settings): string[] {
  const args = CONFIG_FILE_FIELDS.flatMap((field) => {
    const setting = settings.get(field.long)
    if (setting === undefined || field.long === 'dest-device') return []
    if (setting === true) return [`--${field.long}`]
    if (INSTALL_DEFAULTS[field.long] === setting) return []
    return [setting].flat().flatMap((item) => [`--${field.long}`, normalised(field, item)])
  })
  const device = settings.get('dest-device')
  return typeof device === 'string' ? [...args, device] : args
}

const normalised = (field: OptionSpec, value: string): string =>
  field.kind === 'flag' ? value : (field.normal?.(value) ?? value)
