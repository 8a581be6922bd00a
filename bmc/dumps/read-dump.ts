import { stat } from 'node:fs/promises'
import { checkNesting, isObject, readNamedFile } from '../../base/runtime/index.js'
import { folderFiles, zipFiles, type DumpFile } from './dump-files.js'
import { unusableDump } from './dump-error.js'
import { schemaAt, textAt, type DumpedDocument } from './dump-values.js'
import { RedfishDump, type DumpedResource } from './redfish-dump.js'

const ROOT = '/redfish/v1'
/** `_redfish_v1_Systems_1.json` */
const FLAT_FILE = /(?:^|\/)_redfish_v1(?:_[^/]*)?\.json$/i
const INDEX_FILE = /(?:^|\/)index\.json$/i
const HEADERS_FILE = /(?:^|\/)headers\.json$/i

/**
 * Reads a dump: the folder or the zip of Redfish-Mockup-Creator, of `ironstage bmc dump`, of sushy-static or of DSP2043, or
 * files whose names are paths with underscores.
 *
 * @throws UserError `bmc-dump` (usage) that names the file and what is wrong with it
 */
export async function readDump(name: string): Promise<RedfishDump> {
  const files = await filesOf(name)
  return new RedfishDump(name, resourcesOf(files, name))
}

async function filesOf(name: string): Promise<DumpFile[]> {
  try {
    if ((await stat(name)).isDirectory()) return await folderFiles(name)
    return await zipFiles(await readNamedFile(name), name)
  } catch (cause) {
    if (!(cause instanceof Error) || !('errno' in cause)) throw cause
    throw unusableDump(`${name} cannot be read`, 'name the folder or the zip of a dump', cause)
  }
}

function resourcesOf(files: readonly DumpFile[], name: string): DumpedResource[] {
  const flat = files.filter(({ path }) => FLAT_FILE.test(path))
  const indexes = files.filter(({ path }) => INDEX_FILE.test(path))
  if (flat.length > indexes.length) return flatResources(flat, name)
  if (indexes.length === 0)
    throw unusableDump(
      `${name} is no dump of a Redfish service: it has neither an index.json nor a file _redfish_v1_....json`,
    )
  return treeResources(indexes, files, name)
}

/** Paths are ambiguous in names with underscores: a resource names itself. */
function flatResources(files: readonly DumpFile[], name: string): DumpedResource[] {
  return files.flatMap((file) => {
    const document = documentIn(file, name)
    if (document === undefined) return []
    const [, written = ''] = /_redfish_v1_?([^/]*)\.json$/i.exec(file.path) ?? []
    const path = textAt(document, '@odata.id') ?? `${ROOT}/${written.replaceAll('_', '/')}`
    return [{ path, document, headers: {} }]
  })
}

function treeResources(indexes: readonly DumpFile[], files: readonly DumpFile[], name: string): DumpedResource[] {
  const read = indexes.flatMap((file) => {
    const document = documentIn(file, name)
    return document === undefined ? [] : [{ folder: file.path.replace(/\/?index\.json$/i, ''), document }]
  })
  const roots = read.filter(({ document }) => schemaAt(document) === 'ServiceRoot' || isOldRoot(document))
  const [root, ...others] = roots
  if (!root) throw unusableDump(`${name} has no service root: ${rootProblem(read)}`)
  if (others.length > 0)
    throw unusableDump(
      `${name} has ${roots.length} service roots: in ${roots
        .slice(0, 3)
        .map(({ folder }) => folder || '.')
        .join(', ')}`,
      'name the folder of one of them',
    )
  const headers = new Map(
    files.filter(({ path }) => HEADERS_FILE.test(path)).map((file) => [folderOf(file.path), headersIn(file, name)]),
  )
  const pathOf = pathsBelow(root.folder)
  return read.flatMap(({ folder, document }) => {
    const path = pathOf(folder)
    return path === undefined ? [] : [{ path, document, headers: headers.get(folder) ?? {} }]
  })
}

const folderOf = (path: string): string => path.replace(/\/?[^/]*$/, '')

/** A root of a service whose schemas have no types yet. */
const isOldRoot = (document: DumpedDocument): boolean =>
  'RedfishVersion' in document && 'Systems' in document && !('@odata.type' in document)

function rootProblem(read: readonly { document: DumpedDocument }[]): string {
  const [first] = read
  const schema = first && schemaAt(first.document)
  return schema === undefined
    ? 'its files are no resources of Redfish'
    : `it begins with a ${schema}, and may be cut off`
}

/**
 * The path of a folder. Redfish-Mockup-Creator's trees begin at `redfish/v1`, and have registries and schemas beside it; those
 * of DSP2043, the short form, begin below it.
 */
function pathsBelow(root: string): (folder: string) => string | undefined {
  const [, top] = /^(.*?)\/?redfish\/v1$/i.exec(root) ?? []
  const start = top ?? root
  const prefix = top === undefined ? ROOT : ''
  return (folder) => {
    if (folder === start) return prefix === '' ? undefined : prefix
    const below = start === '' ? folder : folder.startsWith(`${start}/`) ? folder.slice(start.length + 1) : undefined
    if (below === undefined) return undefined
    return `${prefix}/${below}`.replace(/^\/redfish\/v1(?=\/|$)/i, ROOT)
  }
}

/** The document of a file; undefined for the body of an error, which a creator has written in the place of a resource. */
function documentIn({ path, text }: DumpFile, name: string): DumpedDocument | undefined {
  const value = jsonIn(path, text, name)
  if (!isObject(value)) throw unusableDump(`${path} of ${name} holds no JSON object`)
  return 'error' in value && !('@odata.id' in value) ? undefined : value
}

/** Some BMCs write a comma after the last member (a report of an XCC in NVIDIA/libredfish's tests/mockups/lenovo). */
const withoutExtraCommas = (text: string): string =>
  /,\s*[}\]]/.test(text)
    ? text.replaceAll(/("(?:[^"\\]|\\.)*")|,(\s*[}\]])/gs, (all: string, quoted: string | undefined, end?: string) =>
        quoted === undefined ? (end ?? all) : quoted,
      )
    : text

function jsonIn(path: string, text: string, name: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(withoutExtraCommas(text.replace(/^\uFEFF/, '')))
  } catch (cause) {
    const why = text.trim() === '' ? 'is empty' : 'is no JSON, or is cut off'
    throw unusableDump(
      `${path} of ${name} ${why}`,
      'mend the file, or remove it if the machine can do without it',
      cause,
    )
  }
  checkNesting(value, `${path} of ${name}`)
  return value
}

/** Headers of the answer to a GET, as Redfish-Mockup-Creator -H has them. */
function headersIn({ path, text }: DumpFile, name: string): Record<string, string> {
  const value = jsonIn(path, text, name)
  const found = isObject(value) && isObject(value['GET']) ? value['GET'] : {}
  return Object.fromEntries(
    Object.entries(found).flatMap(([header, each]) => (typeof each === 'string' ? [[header.toLowerCase(), each]] : [])),
  )
}
