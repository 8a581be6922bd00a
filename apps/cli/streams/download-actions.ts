import { downloadArtifacts } from '../../runs/index.js'
import { imageFormat, type StreamArtifact, type StreamMetadata } from '../../../coreos/index.js'
import { silent, systemClock } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { fetchProgress } from '../output/fetch-progress.js'
import { makeCacheRequest } from '../options/cache-request.js'
import type { DOWNLOAD_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { besideStream, downloadPolicyOf, streamFor } from './fetching.js'
import { hostArchitecture } from './host-architecture.js'

type DownloadCommandOptions = CommandOptionValues<(typeof DOWNLOAD_OPTIONS)[number]>

/** Formats of the metal images of Fedora and RHEL CoreOS. */
const DEFAULT_FORMATS = ['raw.xz', 'raw.gz']

/** `ironstage download`: coreos-installer's, which also checks digests, resumes, and keeps what it has fetched. */
export async function download(options: DownloadCommandOptions, environment: Environment): Promise<number> {
  const { stream: named = 'stable', directory = '.', decompress = false, json } = options
  const stream = await streamFor(named, options, environment)
  const done = await downloadArtifacts(wanted(stream, options), {
    ...downloadPolicyOf(options),
    ...besideStream(named),
    folder: directory,
    decompress,
    cache: await makeCacheRequest(options, environment),
    clock: systemClock(),
    logger: silent,
    signal: environment.stopped,
    ...fetchProgress(environment.stderr),
  })
  for (const { path, sha256, signedBy, already } of done)
    environment.stdout.either(json, { path, sha256, signed_by: signedBy, already }, `${path}`)
  return 0
}

function wanted(
  stream: StreamMetadata,
  { architecture = hostArchitecture(), platform = 'metal', format }: DownloadCommandOptions,
): StreamArtifact[] {
  const formats = stream.architectures[architecture]?.artifacts[platform]?.formats ?? {}
  const chosen = format ?? DEFAULT_FORMATS.find((name) => name in formats) ?? DEFAULT_FORMATS[0]!
  const { disk, kernel, initramfs, rootfs } = imageFormat(stream, architecture, platform, chosen)
  return [disk, kernel, initramfs, rootfs].filter((one) => one !== undefined)
}
