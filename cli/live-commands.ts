import type { Command } from 'commander'
import { failureText, isSystemError, LiveImageError, systemClock } from '../lab/index.js'
import { addCustomizeOptions, repeated } from './customize-options.js'
import type { Environment } from './environment.js'
import * as iso from './iso.js'
import type { LiveCommand } from './live-files.js'
import * as pxe from './pxe.js'

const OUTPUT = [
  '-o, --output <path>',
  'write to a new file, - for standard output (default: change the image itself)',
] as const
const KEYFILE = ['-k, --keyfile <path>', 'NetworkManager keyfile'] as const
const DIRECTORY = ['-C, --directory <path>', 'extract to this folder (default: print them)'] as const

/** A command's operands and options, as commander parsed them. */
type Run<O> = (operands: (string | undefined)[], options: O, command: LiveCommand) => Promise<void> | void

/**
 * Adds `iso` and `pxe`: coreos-installer's commands for live images, with its options, and with its words and exit codes
 * when something fails.
 *
 * @param ended is told the exit code
 */
export function addLiveCommands(program: Command, environment: Environment, ended: (code: number) => void): void {
  const does = <O extends object>(command: Command, run: Run<O>): void => {
    command.action(async () => {
      try {
        await run(command.processedArgs as (string | undefined)[], command.opts<O>(), {
          environment,
          clock: systemClock(),
        })
        ended(0)
      } catch (error) {
        if (!(error instanceof LiveImageError) && !isSystemError(error)) throw error
        environment.stderr.write(failureText(error))
        ended(1)
      }
    })
  }
  const onIso = <O extends object>(
    command: Command,
    run: (path: string, options: O, command: LiveCommand, more?: string) => Promise<void>,
  ): void =>
    does<O>(command.argument('<ISO>', 'CoreOS live ISO'), ([path, more], options, live) =>
      run(path!, options, live, more),
    )
  addIso(program, onIso)
  addPxe(program, does)
}

type OnIso = <O extends object>(
  command: Command,
  run: (path: string, options: O, command: LiveCommand, more?: string) => Promise<void>,
) => void

function addIso(program: Command, onIso: OnIso): void {
  const root = program.command('iso').description('customise a CoreOS live ISO, as coreos-installer does')
  const customize = addCustomizeOptions(root.command('customize').description('make an ISO do something by itself'))
    .addOption(repeated('--live-karg-append <arg>', 'kernel argument to add to the live system'))
    .addOption(repeated('--live-karg-delete <arg>', 'kernel argument to take from the live system'))
    .addOption(repeated('--live-karg-replace <k=o=n>', 'kernel argument of the live system to replace: key=old=new'))
    .option('-f, --force', 'drop what the ISO was customised with before')
    .option(...OUTPUT)
  onIso(customize, iso.isoCustomize)

  const ignition = root.command('ignition').description('the Ignition config in an ISO')
  const embed = ignition.command('embed').description('embed a config')
  onIso(
    embed
      .option('-f, --force', 'replace a config that is there')
      .option('-i, --ignition-file <path>', 'Ignition config (default: standard input)')
      .option(...OUTPUT),
    iso.ignitionEmbed,
  )
  onIso(ignition.command('show').description('print it'), iso.ignitionShow)
  onIso(
    ignition
      .command('remove')
      .description('take it out')
      .option(...OUTPUT),
    iso.ignitionRemove,
  )

  const network = root.command('network').description('the network settings in an ISO')
  onIso(
    network
      .command('embed')
      .description('embed NetworkManager keyfiles')
      .addOption(repeated(...KEYFILE).makeOptionMandatory())
      .option('-f, --force', 'replace settings that are there')
      .option(...OUTPUT),
    iso.networkEmbed,
  )
  onIso(
    network
      .command('extract')
      .description('print or extract them')
      .option(...DIRECTORY),
    iso.networkExtract,
  )
  onIso(
    network
      .command('remove')
      .description('take them out')
      .option(...OUTPUT),
    iso.networkRemove,
  )

  const kargs = root.command('kargs').description('the kernel arguments of an ISO')
  onIso(
    kargs
      .command('modify')
      .description('change them')
      .addOption(repeated('-a, --append <KARG>', 'argument to add'))
      .addOption(repeated('-d, --delete <KARG>', 'argument to take away'))
      .addOption(repeated('-r, --replace <KARG=OLDVAL=NEWVAL>', 'argument to replace'))
      .option(...OUTPUT),
    iso.kargsModify,
  )
  onIso(
    kargs
      .command('reset')
      .description('back to the defaults')
      .option(...OUTPUT),
    iso.kargsReset,
  )
  onIso(
    kargs.command('show').description('print them').option('-d, --default', 'those that it came with'),
    iso.kargsShow,
  )

  const extract = root.command('extract').description('files of an ISO')
  onIso(
    extract
      .command('pxe')
      .description('kernel, initramfs and root filesystem')
      .option('-o, --output-dir <PATH>', 'folder to write to', '.'),
    iso.extractPxe,
  )
  onIso(
    extract
      .command('minimal-iso')
      .description('an ISO without the root filesystem')
      .option('--output-rootfs <PATH>', 'extract the root filesystem too')
      .option('--rootfs-url <URL>', 'where the ISO is to fetch it from'),
    iso.extractMinimalIso,
  )
  extract.commands.at(-1)!.argument('[OUTPUT_ISO]', 'file to write (default: -)')
  onIso(
    root
      .command('reset')
      .description('back to how it was published')
      .option(...OUTPUT),
    iso.isoReset,
  )
}

function addPxe(program: Command, does: <O extends object>(command: Command, run: Run<O>) => void): void {
  const root = program.command('pxe').description('customise CoreOS for PXE, as coreos-installer does')
  const initrd = ['[initrd]', 'initramfs (default: standard input)'] as const
  const wrapOutput = ['-o, --output <path>', 'write to a file (default: standard output)'] as const
  does(
    addCustomizeOptions(root.command('customize').description('make an initramfs do something by itself'))
      .argument('<path>', 'CoreOS live initramfs')
      .requiredOption('-o, --output <path>', 'new file, - for standard output'),
    ([path], options: Parameters<typeof pxe.pxeCustomize>[1], live) => pxe.pxeCustomize(path!, options, live),
  )
  const ignition = root.command('ignition').description('an Ignition config for PXE')
  does(
    ignition
      .command('wrap')
      .description('make it an archive to append to an initramfs')
      .option('-i, --ignition-file <path>', 'Ignition config (default: standard input)')
      .option(...wrapOutput),
    (_, options, live) => pxe.pxeIgnitionWrap(options, live),
  )
  does(
    ignition
      .command('unwrap')
      .description('print it')
      .argument(...initrd),
    ([path], options, live) => pxe.pxeIgnitionUnwrap(path, options, live),
  )
  const network = root.command('network').description('network settings for PXE')
  does(
    network
      .command('wrap')
      .description('make NetworkManager keyfiles an archive to append to an initramfs')
      .addOption(repeated(...KEYFILE).makeOptionMandatory())
      .option(...wrapOutput),
    (_, options: { keyfile: string[]; output?: string }, live) => pxe.pxeNetworkWrap(options, live),
  )
  does(
    network
      .command('unwrap')
      .description('print or extract them')
      .argument(...initrd)
      .option(...DIRECTORY),
    ([path], options, live) => pxe.pxeNetworkUnwrap(path, options, live),
  )
  const sources = (command: Command): Command =>
    command
      .option('--rootfs-url <URL>', 'the root filesystem')
      .option('--ignition-url <URL>', 'the Ignition config (default: in the initramfs)')
      .option('--ignition', 'there is an Ignition config in the initramfs')
      .option('--ip-options <ARGS>', 'arguments of the network, as ip=dhcp6')
      .option('--append <ARGS>', "more kernel arguments, as those that Ironic's kernel_append_params has")
  does(
    sources(root.command('kargs').description('print the kernel arguments that a live boot needs')),
    (_, options, live) => pxe.pxeKargs(options, live),
  )
  does(
    sources(root.command('ipxe').description('print an iPXE script that boots it'))
      .requiredOption('--kernel-url <URL>', 'the kernel')
      .addOption(repeated('--initrd-url <URL>', 'the initramfs, and archives after it').makeOptionMandatory()),
    (_, options: Parameters<typeof pxe.pxeIpxe>[0], live) => pxe.pxeIpxe(options, live),
  )
}
