import type { Command } from '../../targets/index.js'
import type { StagedAsset } from '../../targets/index.js'
import type { InstallInput } from './input.js'

/**
 * The command line of coreos-installer, in the order of the shipped step: the device
 * comes last. Unlike there, every kernel argument is an option of its own: the installer does not split at commas.
 */
export function installerArgv(
  input: InstallInput,
  ignitionFile: string | null,
  device: string,
  staged: StagedAsset | null = null,
): Command['argv'] {
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
  // Allows the signature to be missing, as it is for RHCOS; one that is there is still checked.
  return ['--image-url', image.url, ...(image.insecure ? ['--insecure'] : [])]
}

/** What was staged has been checked, and brings no signature along: in another form than it was signed in, it has none. */
const stagedOptions = ({ from }: StagedAsset): string[] => [
  ...(from.kind === 'file' ? ['--image-file', from.path] : ['--image-url', from.url]),
  '--insecure',
]
