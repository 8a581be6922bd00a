import type { Command } from 'commander'
import type { DownloadPolicy } from '../../../coreos/index.js'
import { repeatableOption } from '../installer/customize-options.js'

/** Options of every command that reads published metadata and files, as commander hands them over. */
export interface FetchFlags extends DownloadPolicy {
  streamBaseUrl?: string
  cacheDir?: string
  /** False for `--no-cache`. */
  cache?: boolean
  imageCa?: string
  imageKey?: string[]
  authfile?: string
  mirrors?: string
}

export function addFetchOptions(command: Command): Command {
  return addRegistryOptions(command)
    .option('--stream-base-url <URL>', "where NAME.json of a stream is (default: Fedora's, or streams/ of the mirror)")
    .option('--mirror <URL>', 'fetch from this server only; its files have the paths of the original servers')
    .option('--offline', 'use only what was fetched before; no network')
    .option('--insecure', 'accept http and files without a signature')
    .option('--cache-dir <DIR>', 'folder of the cache (default: ~/.cache/ironstage/images)')
    .option('--no-cache', 'keep nothing')
    .option('--image-ca <FILE>', 'certificate authorities to trust, PEM')
    .addOption(
      repeatableOption('--image-key <FILE>', 'OpenPGP key, armoured, to trust besides those of Fedora and Red Hat'),
    )
}

/** Help for an operand that names a release. */
export const RELEASE_OPERAND = 'REGISTRY/REPO:TAG or @DIGEST, oci:DIR[:TAG], or folder with an unpacked release'

/** Options of commands that read a release and no published files. */
export function addReleaseOptions(command: Command): Command {
  return addRegistryOptions(command)
    .option('--insecure', 'accept http')
    .option('--image-ca <FILE>', 'certificate authorities to trust, PEM')
}

/** Options of every command that takes a release in a registry. */
function addRegistryOptions(command: Command): Command {
  return command
    .option('--authfile <FILE>', "credentials for registries (default: podman's and docker's files)")
    .option('--mirrors <FILE>', 'mirrors of registries: ImageContentSourcePolicy, mirror sets or registries.conf')
}
