import { downloadArtifacts } from '../../runs/index.js'
import { imageFormat, type StreamArtifact, type StreamMetadata } from '../../../coreos/index.js'
import { silent, systemClock } from '../../../base/runtime/index.js'
import type { DownloadFlags } from './download-command.js'
import type { Environment } from '../environment.js'
import { fetchProgress } from '../output/fetch-progress.js'
import { besideStream, fetchingOf, downloadPolicyOf, streamFor } from './fetching.js'
import { hostArchitecture } from './host-architecture.js'

/** Formats of the metal images of Fedora and RHEL CoreOS. */
const DEFAULT_FORMATS = ['raw.xz', 'raw.gz']

/** `ironstage download`: coreos-installer's, which also checks digests, resumes, and keeps what it has fetched. */
export async function download(flags: DownloadFlags, environment: Environment): Promise<number> {
  const stream = await streamFor(flags.stream, flags, environment)
  const done = await downloadArtifacts(wanted(stream, flags), {
    ...downloadPolicyOf(flags),
    ...besideStream(flags.stream),
    folder: flags.directory,
    decompress: flags.decompress ?? false,
    cache: await fetchingOf(flags, environment),
    clock: systemClock(),
    logger: silent,
    signal: environment.stopped,
    ...fetchProgress(environment.stderr),
  })
  for (const { path, sha256, signedBy, already } of done)
    environment.stdout.either(flags.json, { path, sha256, signed_by: signedBy, already }, `${path}`)
  return 0
}

function wanted(
  stream: StreamMetadata,
  { architecture = hostArchitecture(), platform, format }: DownloadFlags,
): StreamArtifact[] {
  const formats = stream.architectures[architecture]?.artifacts[platform]?.formats ?? {}
  const chosen = format ?? DEFAULT_FORMATS.find((name) => name in formats) ?? DEFAULT_FORMATS[0]!
  const { disk, kernel, initramfs, rootfs } = imageFormat(stream, architecture, platform, chosen)
  return [disk, kernel, initramfs, rootfs].filter((one) => one !== undefined)
}
