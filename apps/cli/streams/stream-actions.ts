import { basename, dirname } from 'node:path'
import {
  bootImagesText,
  checkStream,
  compareVersions,
  diffStreams,
  documentText,
  FEDORA_BUILDS,
  metaToRelease,
  publishStream,
  readMetadata,
  refuseBackInTime,
  RELEASE_INDEX,
  schemaProblems,
  STREAM_KIND,
  streamOfBuild,
  updateStream,
  withRelease,
  type MetadataDocument,
  type CoreosRelease,
  type ReleaseIndex,
  type StreamMetadata,
} from '../../../coreos/index.js'
import { defined, systemClock, UserError, writeResult } from '../../../base/runtime/index.js'
import { packageVersion } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { readInputs, readTextFile } from '../options/input-files.js'
import type * as takes from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { streamFor, type PublishedOptions } from './fetching.js'
import { usageError } from '../usage-error.js'

type ValidateOptions = CommandOptionValues<(typeof takes.STREAM_VALIDATE_OPTIONS)[number]>
type ConvertOptions = CommandOptionValues<(typeof takes.STREAM_CONVERT_OPTIONS)[number]>
type DiffOptions = CommandOptionValues<(typeof takes.STREAM_DIFF_OPTIONS)[number]>
type PublishOptions = CommandOptionValues<(typeof takes.STREAM_PUBLISH_OPTIONS)[number]>

interface StreamDocument {
  name: string
  text: string
}

async function documents(files: readonly string[], environment: Environment): Promise<StreamDocument[]> {
  const inputs = await readInputs(files, environment, 'metadata')
  return inputs.map(({ name, bytes }) => ({ name, text: Buffer.from(bytes).toString() }))
}

const textOf = (path: string): Promise<string> => readTextFile(path, 'metadata')

interface DocumentFinding {
  kind: 'error' | 'warning'
  path: string
  message: string
}

/** `ironstage stream validate FILE...`: exit code 1 when something is wrong. */
export async function streamValidate(
  options: ValidateOptions,
  environment: Environment,
  files: readonly string[],
): Promise<number> {
  const { stdout } = environment
  const { 'older-stream': older, 'insecure-fetch': insecure = false, json } = options
  const before = older === undefined ? null : STREAM_KIND.read(await textOf(older), older)
  let wrong = 0
  for (const document of await documents(files, environment)) {
    const { kind, findings } = findingsOf(document, before, insecure)
    const valid = !findings.some((one) => one.kind === 'error')
    if (!valid) wrong++
    if (json) stdout.json({ file: document.name, kind, valid, findings })
    else {
      for (const { kind: weight, path, message } of findings)
        stdout.line(`${document.name}: ${weight}: ${path === '' ? '' : `${path} `}${message}`)
      stdout.line(`${document.name}: ${valid ? 'valid' : 'refused'}, ${kind ?? 'not CoreOS metadata'}`)
    }
  }
  return wrong === 0 ? 0 : 1
}

function findingsOf(
  { name, text }: StreamDocument,
  before: StreamMetadata | null,
  insecure: boolean,
): { kind: MetadataDocument['kind'] | null; findings: DocumentFinding[] } {
  const error = (message: string): DocumentFinding => ({ kind: 'error', path: '', message })
  try {
    const { kind, problems } = schemaProblems(text, name)
    if (problems.length > 0) return { kind, findings: problems.map(error) }
    try {
      const metadata = readMetadata(text, name)
      const streams = streamsIn(metadata)
      const findings: DocumentFinding[] = streams.flatMap((stream) => checkStream(stream, { insecure }))
      if (before) for (const stream of streams) refuseBackInTime(before, stream)
      return { kind, findings }
    } catch (cause) {
      if (cause instanceof UserError) return { kind, findings: [error(cause.message)] }
      throw cause
    }
  } catch (cause) {
    if (cause instanceof UserError) return { kind: null, findings: [error(cause.message)] }
    throw cause
  }
}

function streamsIn(metadata: MetadataDocument): StreamMetadata[] {
  if (metadata.kind === 'stream') return [metadata.value]
  if (metadata.kind === 'config-map') return Object.values(metadata.value.streams ?? { '': metadata.value.stream })
  return []
}

/** `ironstage stream convert FILE...`: builds to a release, builds and releases to a stream, streams to a ConfigMap. */
export async function streamConvert(
  options: ConvertOptions,
  environment: Environment,
  files: readonly string[],
): Promise<number> {
  const { 'target-metadata': target, output } = options
  const read = (await documents(files, environment)).map(({ name, text }) => readMetadata(text, name))
  const now = new Date(systemClock().now()).toISOString().replace(/\.\d+Z$/, 'Z')
  const text = converted(read, options, now, target === undefined ? null : await textOf(target))
  if (output === undefined) environment.stdout.contents(text)
  else await writeResult(output, text)
  return 0
}

function converted(
  read: readonly MetadataDocument[],
  options: ConvertOptions,
  now: string,
  target: string | null,
): string {
  const { to = 'stream', 'release-version': releaseVersion = '0.0.1-snapshot', 'stream-name': name } = options
  if (to === 'config-map') {
    const streams = read.flatMap(streamsIn)
    const [stream] = streams
    if (!stream) throw wants('config-map', 'stream metadata')
    const named = Object.fromEntries(streams.map((one) => [one.stream, one]))
    return bootImagesText({ releaseVersion, stream, streams: named })
  }
  const releases = releasesOf(read, to, options)
  if (to === 'release') {
    const [release, ...others] = releases
    if (!release || others.length > 0) throw wants('release', 'the metadata of one build, for each architecture')
    return documentText({ ...release, metadata: { 'last-modified': now } })
  }
  if (releases.length === 0) throw wants(to, 'build or release metadata')
  if (to === 'index') return documentText(indexOf(releases, options, now, target))
  const before = target === null ? null : STREAM_KIND.read(target, options['target-metadata'] ?? 'the target')
  const generator = `ironstage ${packageVersion()}`
  return documentText(updateStream(before, releases, { now, generator, ...defined({ name }) }))
}

/** The releases of a stream, oldest first; those of the target stay. */
function indexOf(
  releases: readonly CoreosRelease[],
  options: ConvertOptions,
  now: string,
  target: string | null,
): ReleaseIndex {
  let index = target === null ? null : RELEASE_INDEX.read(target, options['target-metadata'] ?? 'the target')
  for (const release of [...releases].sort((a, b) => compareVersions(a.release, b.release))) {
    if (index && index.stream !== release.stream) throw wants('index', `releases of one stream, as ${index.stream}`)
    const base = (options['builds-url'] ?? FEDORA_BUILDS).replace(/\/+$/, '')
    index = withRelease(index, release, `${base}/${release.stream}/builds/${release.release}/release.json`, now)
  }
  if (index) return index
  throw wants('index', 'build or release metadata')
}

/** Builds grouped by release, so that a stream can combine architectures of several builds. */
function releasesOf(
  read: readonly MetadataDocument[],
  to: string,
  { 'stream-name': name, 'builds-url': baseUrl, 'no-signatures': unsigned = false }: ConvertOptions,
): CoreosRelease[] {
  const settings = {
    signatures: !unsigned,
    ...defined({
      baseUrl,
      // A release's URLs contain the name of its stream; a stream's do not.
      streamName: to === 'release' ? name : undefined,
    }),
  }
  const builds = read.flatMap((one) => (one.kind === 'build' ? [one.value] : []))
  const unnamed = builds.find((build) => streamOfBuild(build) === undefined)
  if (to === 'release' && name === undefined && unnamed)
    throw new UserError('metadata-incomplete', `the build metadata of ${unnamed.buildid} names no stream`, {
      remedy: 'name the stream with --name',
    })
  const ids = [...new Set(builds.map(({ buildid }) => buildid))]
  const apart = to === 'release' ? [builds] : ids.map((id) => builds.filter(({ buildid }) => buildid === id))
  return [
    ...read.flatMap((one) => (one.kind === 'release' ? [one.value] : [])),
    ...apart.filter((some) => some.length > 0).map((some) => metaToRelease(some, settings)),
  ]
}

const wants = (to: string, what: string): UserError => usageError(`a ${to} is made of ${what}`, `name ${what}`)

/** `ironstage stream diff A B`: exit code 1 when they have drifted apart. */
export async function streamDiff(
  options: DiffOptions,
  environment: Environment,
  named: readonly string[],
): Promise<number> {
  const before = await streamFor(named[0] ?? '', options, environment)
  const after = await streamFor(named[1] ?? '', options, environment)
  const differences = diffStreams(before, after)
  for (const difference of differences) {
    const { path, before: was, after: is } = difference
    const text = `${path}: ${was ?? '(none)'} -> ${is ?? '(none)'}`
    environment.stdout.either(options.json, difference, text)
  }
  return differences.length === 0 ? 0 : 1
}

/** `ironstage stream print STREAM`: the document, wherever it is. */
export async function streamPrint(options: PublishedOptions, environment: Environment, named: string): Promise<number> {
  environment.stdout.contents(documentText(await streamFor(named, options, environment)))
  return 0
}

/** `ironstage stream publish STREAM SHELF`: a dated copy that never changes, and the alias of the latest. */
export async function streamPublish(
  options: PublishOptions,
  environment: Environment,
  named: string,
  shelf: string,
): Promise<number> {
  const stream = await streamFor(named, options, environment)
  const { path, sha256 } = await publishStream(
    { folder: dirname(shelf), name: basename(shelf), clock: systemClock() },
    stream,
  )
  environment.stdout.either(options.json, { path, sha256 }, `${path} ${sha256}`)
  return 0
}
