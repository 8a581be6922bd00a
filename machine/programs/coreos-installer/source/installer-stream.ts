import { isMap, isScalar, LineCounter, parseDocument, type Node, type YAMLMap } from 'yaml'
import { readNested } from '../../../../base/runtime/index.js'
import { duringInstall, Failure } from '../installer-error.js'
import { fetchAll, openUrl, type Fetching } from './http.js'
import { parseSerdeJson } from '../serde-json.js'
import type { ImageSource } from './source.js'

const FEDORA = 'https://builds.coreos.fedoraproject.org/streams/'

/** Options that select a stream. */
export interface StreamSelection {
  stream: string | undefined
  streamBaseUrl: string | undefined
}

/** One build of an image, in parts: a disk, or kernel, initramfs and rootfs. */
export interface StreamFormat {
  architecture: string
  platform: string
  format: string
  artifacts: { location: string; signature: string }[]
}

/** The metal image of a stream, and its signature. */
export async function openStream(
  options: StreamSelection & { architecture: string; platform: string; format: string },
  fetching: Fetching,
): Promise<ImageSource> {
  const { architecture, platform, format } = options
  const what = `${architecture} ${platform} image (${format}) and signature`
  if (options.streamBaseUrl === undefined)
    fetching.print(`Downloading Fedora CoreOS ${options.stream ?? 'stable'} ${what}`)
  else fetching.print(`Downloading ${what} referenced from ${streamUrl(options)}`)
  const found = (await fetchStream(options, fetching)).find(
    (one) => one.architecture === architecture && one.platform === platform && one.format === format,
  )
  if (!found)
    throw new Failure(
      `couldn't find architecture ${architecture}, platform ${platform}, format ${format} in stream metadata`,
    )
  const urls = found.artifacts.map(({ location, signature }) => [
    asUrl(location, 'artifact'),
    asUrl(signature, 'signature'),
  ])
  const opened: ImageSource[] = []
  // The real installer opens all of them before it checks their number.
  for (const [image, signature] of urls) opened.push(await openSigned(image!, signature!, fetching))
  if (opened.length === 1) return opened[0]!
  for (const { bytes } of opened) await bytes[Symbol.asyncDispose]()
  throw new Failure(opened.length === 0 ? 'no artifacts found' : 'found multiple artifacts')
}

/** Opens an image for download, after its signature was fetched. */
export async function openSigned(image: string, signature: string, fetching: Fetching): Promise<ImageSource> {
  let found: ImageSource['signature']
  try {
    found = { kind: 'found', bytes: await fetchAll(signature, fetching) }
  } catch (error) {
    if (fetching.signal.aborted) throw error
    fetching.print('Failed to fetch signature: fetching signature URL')
    found = { kind: 'missing' }
  }
  const bytes = await duringInstall('fetching image URL', () => openUrl(image, fetching))
  return { bytes, signature: found, path: undefined }
}

/** All formats of a stream, sorted. */
export async function fetchStream(options: StreamSelection, fetching: Fetching): Promise<StreamFormat[]> {
  const bytes = await duringInstall('fetching stream metadata', () => fetchAll(streamUrl(options), fetching))
  const text = Buffer.from(bytes).toString()
  return duringInstall('decoding stream metadata', () => parseStream(text))
}

const streamUrl = ({ stream = 'stable', streamBaseUrl = FEDORA }: StreamSelection): string =>
  new URL(`${stream}.json`, streamBaseUrl).href

function asUrl(text: string, of: 'artifact' | 'signature'): string {
  if (URL.canParse(text)) return new URL(text).href
  throw new Failure(`parsing ${of} URL from stream metadata`, new Failure('relative URL without a base'))
}

/** Parses stream metadata. The YAML parser, which reads JSON too, gives the positions for errors. */
function parseStream(text: string): StreamFormat[] {
  parseSerdeJson(text)
  const lines = new LineCounter()
  const document = readNested(text, 'the stream metadata', (each) => parseDocument(each, { lineCounter: lines }))
  const end = (node: Node | null | undefined): string => {
    const { line, col } = lines.linePos((node?.range?.[1] ?? 1) - 1)
    return `at line ${line} column ${col}`
  }
  const mapOf = (node: unknown): YAMLMap => {
    if (isMap(node)) return node
    throw new Failure(`invalid type, expected a map ${end(node as Node)}`)
  }
  const field = (map: YAMLMap, name: string): unknown => {
    const value = map.get(name, true)
    if (value === undefined) throw new Failure(`missing field \`${name}\` ${end(map)}`)
    return value
  }
  const entries = (node: unknown): [string, YAMLMap][] =>
    mapOf(node).items.map(({ key, value }) => [isScalar(key) ? String(key.value) : '', mapOf(value)])
  const string = (node: unknown): string => {
    if (isScalar(node) && typeof node.value === 'string') return node.value
    throw new Failure(`invalid type, expected a string ${end(node as Node)}`)
  }
  const formats = entries(field(mapOf(document.contents), 'architectures')).flatMap(([architecture, one]) =>
    entries(field(one, 'artifacts')).flatMap(([platform, artifacts]) =>
      entries(field(artifacts, 'formats')).map(([format, parts]) => ({
        architecture,
        platform,
        format,
        artifacts: entries(parts).map(([, part]) => ({
          location: string(field(part, 'location')),
          signature: string(field(part, 'signature')),
        })),
      })),
    ),
  )
  const key = ({ architecture, platform, format }: StreamFormat) => [architecture, platform, format].join('\0')
  return formats.sort((a, b) => (key(a) < key(b) ? -1 : 1))
}
