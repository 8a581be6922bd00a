import {
  bootImageFor,
  bootImageInfo,
  documentText,
  openRelease,
  readReleaseImage,
  releaseFolder,
  streamOfBuilds,
  type BootImageInfo,
  type ReleaseFiles,
  type StreamMetadata,
} from '../../../coreos/index.js'
import { isImagePlace, parsePlace } from '../../../base/registry/index.js'
import { generateBootImage } from '../../runs/index.js'
import { defined, silent, systemClock } from '../../../base/runtime/index.js'
import type { GenerateFlags, InfoFlags } from './boot-image-commands.js'
import type { Environment } from '../environment.js'
import { fetchProgress } from '../output/fetch-progress.js'
import type { FetchFlags } from './fetch-options.js'
import { besideStream, fetchingOf, downloadPolicyOf, imagesFor, streamFor } from './fetching.js'
import { readInputs, refuseButane } from '../options/input-files.js'
import { hostArchitecture } from './host-architecture.js'
import { usageError } from '../usage-error.js'

/** `ironstage boot-image info RELEASE`: exit code 1 when the sources of the release differ. */
export async function bootImageReport(
  release: string,
  { json, baseUrl, ...flags }: InfoFlags,
  environment: Environment,
): Promise<number> {
  const files = await releaseAt(release, flags, environment)
  const info = bootImageInfo(await readReleaseImage(files), baseUrl === undefined ? {} : { baseUrl })
  environment.stdout.either(json, info, infoText(info))
  return info.drift.length === 0 ? 0 : 1
}

/** `ironstage boot-image generate [RELEASE] PLATFORM` */
export async function bootImageGenerate(
  release: string | undefined,
  platform: string,
  flags: GenerateFlags,
  environment: Environment,
): Promise<number> {
  refuseRuntime(flags.runtime)
  const { architecture = hostArchitecture(), directory, ignition, baseUrl } = flags
  const stream = await readBootStream(release, { ...flags, ...defined({ baseUrl }) }, environment)
  const image = bootImageFor(stream, architecture, platform)
  if (image.kind === 'amis') {
    environment.stdout.contents(documentText({ amis: image.amis }))
    return 0
  }
  if (directory === undefined && ignition === undefined) {
    environment.stdout.contents(documentText({ release: image.release, format: image.format, ...image.files }))
    return 0
  }
  const { paths, kargs } = await generateBootImage(image, {
    ...downloadPolicyOf(flags),
    folder: directory ?? '.',
    cache: await fetchingOf(flags, environment),
    clock: systemClock(),
    logger: silent,
    signal: environment.stopped,
    ...fetchProgress(environment.stderr),
    ...(release === undefined ? besideStream(flags.stream ?? '') : {}),
    ...defined({ ignition: ignition === undefined ? undefined : await readIgnitionFile(ignition, environment) }),
  })
  for (const path of paths) environment.stdout.line(path)
  if (kargs !== null) environment.stderr.program(`PXE configuration must include kernel arguments:\n\t${kargs}\n`)
  return 0
}

async function readBootStream(
  release: string | undefined,
  flags: GenerateFlags,
  environment: Environment,
): Promise<StreamMetadata> {
  if (release === undefined) return streamFor(flags.stream ?? 'stable', flags, environment)
  const image = await readReleaseImage(await releaseAt(release, flags, environment))
  const built = streamOfBuilds(image, flags.baseUrl === undefined ? {} : { baseUrl: flags.baseUrl })
  const stream = built ?? image.bootImages?.stream
  if (stream) return stream
  throw usageError(`${release} has no boot images`, 'name another release', 'release-image')
}

/** A release in a registry, in an OCI layout, or unpacked into a folder. */
async function releaseAt(release: string, flags: FetchFlags, environment: Environment): Promise<ReleaseFiles> {
  if (!isImagePlace(release)) return releaseFolder(release, systemClock())
  return openRelease(await imagesFor(flags, environment), parsePlace(release))
}

/** The document allows three ways to build images; published images need none of them. */
function refuseRuntime(runtime: string): void {
  if (runtime === 'published') return
  throw usageError(
    `ironstage does not build images with ${runtime}, it uses the published ones`,
    'leave out --runtime',
    'boot-image-runtime',
  )
}

async function readIgnitionFile(path: string, environment: Environment): Promise<Uint8Array> {
  const [config] = await readInputs([path], environment)
  refuseButane(config!.name, config!.bytes)
  return config!.bytes
}

function infoText({ architectures, drift }: BootImageInfo): string[] {
  const lines = Object.entries(architectures).flatMap(([architecture, { release, base, derived, platforms, amis }]) => [
    `${architecture}  ${release}`,
    ...(base === null ? [] : [`  base image     ${base}`]),
    ...(derived === null ? [] : [`  node image     ${derived}`]),
    ...Object.entries(platforms).map(([platform, formats]) => `  ${platform.padEnd(13)}  ${formats.join(' ')}`),
    ...Object.entries(amis).map(([region, image]) => `  ami ${region.padEnd(9)}  ${image}`),
  ])
  const differing = drift.map(
    ({ path, before, after }) => `DRIFT: ${path} is ${before} in bootimage.json and ${after} in the ConfigMap`,
  )
  return [...lines, ...differing]
}
