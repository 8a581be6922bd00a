import { Option, type Command } from 'commander'
import type { OsVersion } from '../../../coreos/index.js'
import { repeatableOption } from '../installer/customize-options.js'
import { addFetchOptions, type FetchFlags } from './fetch-options.js'
import type { AddAction } from '../command-action.js'
import { OS_VERSION_WORDS } from '../options/value-words.js'

export interface BuildFlags extends FetchFlags {
  stream: string
  coreosVersion?: OsVersion
  architecture?: string[]
  json?: boolean
}

export interface CopyFlags {
  source: string
  kargs?: string
  fips?: boolean
  initrdOnly?: boolean
  all?: boolean
  pxe?: boolean
  imageBuild?: boolean
  coreosVersion?: OsVersion
  architecture?: string
  json?: boolean
}

export interface VerifyFlags extends FetchFlags {
  stream?: string
  coreosVersion?: OsVersion
  build?: string
  container?: string
  json?: boolean
}

/** Where the container image has its files. */
const SHIPPED = '/coreos'

/** Adds `machine-os` and its commands: what the container image of CoreOS in a release does. */
export function addMachineOsCommands(program: Command, addAction: AddAction): void {
  const root = program.command('machine-os').description('make, copy and verify the CoreOS image of a release')
  const version = () =>
    new Option('--coreos-version <N>', 'CoreOS on RHEL 9 or 10 (COREOS_VERSION)').choices([...OS_VERSION_WORDS])
  addAction(
    addFetchOptions(root.command('build').description('fill the folder that the container image is made of'))
      .argument('<DIR>', 'folder to fill')
      .requiredOption('-s, --stream <STREAM>', 'name, URL or file of the stream')
      .addOption(repeatableOption('-a, --architecture <ARCH>', "whose ISO (default: this host's)"))
      .addOption(version())
      .option('--json', 'print JSON'),
    async () => {
      const { machineOsBuild } = await import('./machine-os-actions.js')
      return ([folder], flags: BuildFlags, environment) => machineOsBuild(folder as string, flags, environment)
    },
  )
  const copying = (command: Command) =>
    command
      .argument('<DEST>', 'folder to copy to')
      .option('--source <DIR>', 'folder with the ISOs', SHIPPED)
      .option('--json', 'print JSON')
  const withKargs = (command: Command) =>
    copying(command)
      .option('--kargs <ARGS>', 'more kernel arguments for the live system (IP_OPTIONS)')
      .option('--fips', 'let the live system start in FIPS mode')
  addAction(withKargs(root.command('copy-iso').description('copy the live ISOs')), async () => {
    const { machineOsCopyIso } = await import('./machine-os-actions.js')
    return ([to], flags: CopyFlags, environment) => machineOsCopyIso(to as string, flags, environment)
  })
  addAction(
    copying(root.command('copy-pxe').description('extract the files for network boots')).option(
      '--initrd-only',
      'the initramfs alone',
    ),
    async () => {
      const { machineOsCopyPxe } = await import('./machine-os-actions.js')
      return ([to], flags: CopyFlags, environment) => machineOsCopyPxe(to as string, flags, environment)
    },
  )
  addAction(
    withKargs(root.command('copy-metal').description('both, with the links that Ironic’s images are known by'))
      .addOption(new Option('--all', 'everything (default)').conflicts(['pxe', 'imageBuild']))
      .addOption(new Option('--pxe', 'for network boots alone').conflicts('imageBuild'))
      .option('--image-build', 'what images are made of for each machine alone')
      .addOption(version())
      .option('-a, --architecture <ARCH>', "of the links without one (default: this host's)"),
    async () => {
      const { machineOsCopyMetal } = await import('./machine-os-actions.js')
      return ([to], flags: CopyFlags, environment) => machineOsCopyMetal(to as string, flags, environment)
    },
  )
  addAction(
    addFetchOptions(root.command('verify').description('compare live images with stream metadata'))
      .argument('<DIR>', 'folder with ISOs, kernels, initramfs and root filesystems')
      .option('-s, --stream <STREAM>', 'name, URL or file of the stream (default: those in DIR)')
      .addOption(version())
      .option('--build <FILE>', 'meta.json of the build that the images have to be of')
      .option('--container <FILE>', 'what skopeo inspect says of the container image of that build')
      .option('--json', 'print JSON'),
    async () => {
      const { machineOsVerify } = await import('./machine-os-actions.js')
      return ([folder], flags: VerifyFlags, environment) => machineOsVerify(folder as string, flags, environment)
    },
  )
}
