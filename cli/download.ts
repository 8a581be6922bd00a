import type { Command } from 'commander'
import { downloadArtifacts, imageFormat, silent, systemClock, type Artifact, type Stream } from '../lab/index.js'
import { addFetchOptions, fetchingOf, reachOf, streamFor, type FetchFlags } from './fetch-options.js'
import { fetchProgress } from './fetch-progress.js'
import type { Does } from './metadata-commands.js'

interface DownloadFlags extends FetchFlags {
  stream: string
  architecture?: string
  platform: string
  format?: string
  directory: string
  decompress?: boolean
  json?: boolean
}

/** Those of Fedora and RHEL CoreOS. */
const DEFAULT_FORMATS = ['raw.xz', 'raw.gz']

/** Adds `download`: coreos-installer's, which also checks digests, resumes, and keeps what it has fetched. */
export function addDownloadCommand(program: Command, does: Does): void {
  does<DownloadFlags>(
    addFetchOptions(program.command('download').description('fetch files of CoreOS, checked by digest and signature'))
      .option('-s, --stream <STREAM>', 'name, URL or file of the stream', 'stable')
      .option('-a, --architecture <ARCH>', "as uname -m says (default: this host's)")
      .option('-p, --platform <NAME>', 'metal, openstack, qemu ...', 'metal')
      .option('-f, --format <NAME>', 'raw.xz, iso, pxe ... (default: raw.xz or raw.gz)')
      .option('-C, --directory <DIR>', 'folder to write to', '.')
      .option('-d, --decompress', 'without .gz or .xz')
      .option('--json', 'print JSON'),
    async (_, flags, environment) => {
      const stream = await streamFor(flags.stream, flags, environment)
      const done = await downloadArtifacts(wanted(stream, flags), {
        ...reachOf(flags),
        ...{ folder: flags.directory, decompress: flags.decompress ?? false },
        ...{ cache: await fetchingOf(flags, environment), clock: systemClock(), logger: silent },
        signal: environment.stopped,
        ...fetchProgress(environment.stderr),
      })
      for (const { path, sha256, signedBy, already } of done)
        environment.stdout.write(
          flags.json ? `${JSON.stringify({ path, sha256, signed_by: signedBy, already })}\n` : `${path}\n`,
        )
      return 0
    },
  )
}

function wanted(stream: Stream, { architecture = hostArchitecture(), platform, format }: DownloadFlags): Artifact[] {
  const formats = stream.architectures[architecture]?.artifacts[platform]?.formats ?? {}
  const chosen = format ?? DEFAULT_FORMATS.find((name) => name in formats) ?? DEFAULT_FORMATS[0]!
  const { disk, kernel, initramfs, rootfs } = imageFormat(stream, architecture, platform, chosen)
  return [disk, kernel, initramfs, rootfs].filter((one) => one !== undefined)
}

const NAMES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'x86_64', arm64: 'aarch64', ppc64: 'ppc64le' }

/** As CoreOS names it. */
export const hostArchitecture = (): string => NAMES[process.arch] ?? process.arch
