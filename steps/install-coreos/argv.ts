import type { TargetCommand } from '../../targets/index.js'
import type { StagedAsset } from '../../targets/index.js'
import type { InstallInput } from './install-input.js'

/**
 * The command line of coreos-installer, in the order of the upstream step, with the device last. Unlike upstream, every
 * kernel argument is a separate option, since the installer does not split at commas.
 */
export function installerArgv(
  input: InstallInput,
  ignitionFile: string | null,
  device: string,
  staged: StagedAsset | null = null,
): TargetCommand['argv'] {
  const each = (option: string, values: readonly string[]) => values.flatMap((value) => [option, value])
  return [
    'coreos-installer',
    'install',
    ...(input.preserveOnError ? ['--preserve-on-error'] : []),
    ...(ignitionFile === null ? [] : ['--ignition-file', ignitionFile]),
    ...each('--append-karg', input.appendKargs),
    ...each('--delete-karg', input.deleteKargs),
    ...(staged ? stagedOptions(staged) : imageOptions(input.image)),
    ...each('--append-karg', input.ipOptions === null ? [] : [input.ipOptions]),
    ...(input.copyNetwork ? ['--copy-network'] : []),
    ...(input.platform === null ? [] : ['--platform', input.platform]),
    ...each('--console', input.consoles),
    device,
  ]
}

function imageOptions(image: InstallInput['image']): string[] {
  if (image === null) return ['--offline']
  // --insecure allows a missing signature, as for RHCOS; the installer still checks an existing one.
  return ['--image-url', image.url, ...(image.insecure ? ['--insecure'] : [])]
}

/** Options for a staged image. It is already checked, and has no signature: a recompressed file has none. */
const stagedOptions = ({ from }: StagedAsset): string[] => [
  ...(from.kind === 'file' ? ['--image-file', from.path] : ['--image-url', from.url]),
  '--insecure',
]
