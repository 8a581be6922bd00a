import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import {
  BUILD_META,
  pullspecsOf,
  makeRelease,
  openRelease,
  operatorManifests,
  putRelease,
  STREAM_KIND,
  type NamedManifest,
} from '../../../coreos/index.js'
import { parsePlace, type ImagePlace } from '../../../base/registry/index.js'
import { UserError, readNamedText } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { readInputs } from '../options/input-files.js'
import type { RELEASE_INFO_OPTIONS, RELEASE_WRITE_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { imagesFor } from './fetching.js'
import { usageError } from '../usage-error.js'

type ReleaseWriteOptions = CommandOptionValues<(typeof RELEASE_WRITE_OPTIONS)[number]> & { version: string }
type ReleaseInfoOptions = CommandOptionValues<(typeof RELEASE_INFO_OPTIONS)[number]>

/** `ironstage release write DEST`: nothing is written before all parts fit together. */
export async function releaseWrite(
  options: ReleaseWriteOptions,
  environment: Environment,
  dest: string,
): Promise<number> {
  const { version, json = false } = options
  const place = newImagePlace(dest, 'a release')
  const images = await imagesFor(options, environment)
  const operators = parseNamedImages(options.operator, '--operator')
  const components = [...parseNamedImages(options.component, '--component'), ...operators]
  const known = new Map(components.map(({ name, pullspec }) => [name, pullspec]))
  const manifests = await manifestFiles(options.manifest ?? [])
  for (const operator of operators)
    manifests.push(...(await operatorManifests(images, operator, { version, components: known })))
  const parts = { version, manifests, components, repository: repositoryOf(place, options.repository) }
  const read = async <T>(
    files: readonly string[] | undefined,
    document: { read(bytes: Uint8Array, name: string): T },
  ) => (await readInputs(files ?? [], environment, 'metadata')).map(({ name, bytes }) => document.read(bytes, name))
  const made = makeRelease({
    ...parts,
    streams: await read(options['release-streams'], STREAM_KIND),
    builds: await read(options['release-builds'], BUILD_META),
  })
  // A tag cannot have the plus sign of a version.
  const tag = place.tag ?? version.replaceAll('+', '_')
  const pullspec = await putRelease(made, { images, place, tag, signal: environment.stopped })
  const { components: all } = made
  const { digest } = made.image
  environment.stdout.either(json, { pullspec, tag, version, digest, components: all }, pullspec)
  return 0
}

/** @throws UserError (usage) for a digest, which only the result has, and for what names no image */
export function newImagePlace(dest: string, what: string): ImagePlace {
  const place = parsePlace(dest)
  if (place.digest !== undefined)
    throw usageError(
      `${dest} names a digest, which ${what} has only when it is made`,
      'name a tag, or leave it to be the version',
      'image-reference',
    )
  if (place.kind === 'layout' || /:[^/:]+$/.test(dest)) return place
  // Without a tag the version is it, not Docker's latest.
  const { tag: _, ...untagged } = place
  return untagged
}

const repositoryOf = (place: ImagePlace, layoutName = 'localhost/release'): string =>
  place.kind === 'registry' ? `${place.registry}/${place.repository}` : layoutName

function parseNamedImages(values: readonly string[] | undefined, option: string): { name: string; pullspec: string }[] {
  return (values ?? []).map((value) => {
    const [, name, pullspec] = /^([^=]+)=(.+)$/.exec(value) ?? []
    if (name !== undefined && pullspec !== undefined) return { name, pullspec }
    throw usageError(
      `${option} is ${value}, not NAME=PULLSPEC`,
      `write ${option} installer=quay.io/...@sha256:...`,
      'bad-option',
    )
  })
}

async function manifestFiles(paths: readonly string[]): Promise<NamedManifest[]> {
  const found: NamedManifest[] = []
  for (const path of paths)
    try {
      const isFolder = (await stat(path)).isDirectory()
      const names = isFolder
        ? (await readdir(path)).filter((name) => /\.(ya?ml|json)$/.test(name)).sort()
        : [basename(path)]
      for (const name of names) found.push({ name, text: await readNamedText(isFolder ? join(path, name) : path) })
    } catch (cause) {
      throw new UserError('file-unreadable', `the manifest ${path} cannot be read`, {
        cause,
        remedy: 'name a file or a folder that you may read',
        kind: 'usage',
      })
    }
  return found
}

/** `ironstage release info RELEASE` */
export async function releaseInfo(
  options: ReleaseInfoOptions,
  environment: Environment,
  named: string,
): Promise<number> {
  const release = await openRelease(await imagesFor(options, environment), parsePlace(named))
  const { pullspec, version, image, architectures, references, metadata } = release
  const components = Object.fromEntries(pullspecsOf(references))
  const facts = {
    pullspec,
    version,
    created: image.created,
    architectures: architectures ?? [image.architecture],
    baseImageDigest: image.labels['io.openshift.release.base-image-digest'] ?? null,
    previous: metadata?.previous ?? [],
    components,
    manifests: [...(await release.manifests()).keys()],
  }
  environment.stdout.either(options.json, facts, factsText(facts))
  return 0
}

function factsText(facts: {
  pullspec: string
  version: string
  created: string | null
  architectures: readonly string[]
  baseImageDigest: string | null
  components: Readonly<Record<string, string>>
  manifests: readonly string[]
}): string[] {
  const { pullspec, version, created, architectures, baseImageDigest, components, manifests } = facts
  const width = Math.max(0, ...Object.keys(components).map(({ length }) => length))
  return [
    `release        ${version}`,
    `pullspec       ${pullspec}`,
    ...(created === null ? [] : [`created        ${created}`]),
    `architectures  ${architectures.join(' ')}`,
    ...(baseImageDigest === null ? [] : [`base image     ${baseImageDigest}`]),
    `components     ${Object.keys(components).length}`,
    ...Object.entries(components).map(([name, where]) => `  ${name.padEnd(width)}  ${where}`),
    `manifests      ${manifests.length}`,
    ...manifests.map((name) => `  ${name}`),
  ]
}
