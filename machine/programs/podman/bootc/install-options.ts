import { BootcFailure } from './bootc-failure.js'

export interface InstallToDisk {
  device: string
  wipe: boolean
  blockSetup: 'direct' | 'tpm2-luks' | undefined
  filesystem: string | undefined
  /** MiB. */
  rootSize: number | undefined
  rootKeys: string | undefined
  kernelArguments: readonly string[]
}

const FLAGS = ['--wipe', '--skip-fetch-check', '--disable-selinux', '--generic-image', '--via-loopback']
const VALUED = [
  '--block-setup',
  '--filesystem',
  '--root-size',
  '--root-ssh-authorized-keys',
  '--karg',
  '--target-imgref',
  '--target-transport',
  '--source-imgref',
  '--stateroot',
]
const BLOCK_SETUPS = ['direct', 'tpm2-luks'] as const
const FILESYSTEMS = ['xfs', 'ext4', 'btrfs']

/**
 * Options of `bootc install to-disk`.
 *
 * @throws BootcUsage as clap refuses them
 */
export function installOptions(argv: readonly string[]): InstallToDisk {
  const values = new Map<string, string[]>()
  const devices: string[] = []
  for (let at = 0; at < argv.length; at++) {
    const [name = '', attached] = argv[at]!.split(/=(.*)/s)
    if (!name.startsWith('-')) devices.push(argv[at]!)
    else if (FLAGS.includes(name) && attached === undefined) values.set(name, [])
    else if (VALUED.includes(name)) values.set(name, [...(values.get(name) ?? []), attached ?? argv[++at] ?? ''])
    else throw new BootcUsage(`unexpected argument '${name}' found`)
  }
  const [device, ...more] = devices
  if (device === undefined) throw new BootcUsage('the following required arguments were not provided:\n  <DEVICE>')
  if (more.length > 0) throw new BootcUsage(`unexpected argument '${more[0]!}' found`)
  const last = (name: string) => values.get(name)?.at(-1)
  const setup = last('--block-setup')
  const size = last('--root-size')
  const filesystem = last('--filesystem')
  const blockSetup = BLOCK_SETUPS.find((one) => one === setup)
  if (setup !== undefined && blockSetup === undefined) throw invalidValue('--block-setup <BLOCK_SETUP>', setup)
  if (filesystem !== undefined && !FILESYSTEMS.includes(filesystem))
    throw invalidValue('--filesystem <FILESYSTEM>', filesystem)
  return {
    device,
    wipe: values.has('--wipe'),
    blockSetup,
    filesystem,
    rootSize: size === undefined ? undefined : mebibytes(size),
    rootKeys: last('--root-ssh-authorized-keys'),
    kernelArguments: values.get('--karg') ?? [],
  }
}

/** Words of clap before its usage. */
export class BootcUsage extends BootcFailure {
  override name = 'BootcUsage'
}

const invalidValue = (option: string, value: string): BootcUsage =>
  new BootcUsage(`invalid value '${value}' for '${option}'`)

/** bootc reads its sizes when it partitions the disk. */
function mebibytes(text: string): number {
  const [, digits, unit = 'M'] = /^(\d+)(MiB|M|GiB|G|TiB|T)?$/.exec(text) ?? []
  if (digits === undefined)
    throw new BootcFailure('Installing to disk: Creating rootfs: Parsing root size: invalid digit found in string')
  return Number(digits) * { M: 1, G: 1024, T: 1024 * 1024 }[unit[0] as 'M' | 'G' | 'T']
}
