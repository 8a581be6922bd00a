import type { Command } from 'commander'
import { addCustomizeOptions, repeatableOption } from './customize-options.js'
import type * as isoWork from './iso-actions.js'
import type { LiveCommand } from './live-input.js'
import type { CommandAction, AddAction } from '../command-action.js'
import type * as pxeWork from './pxe-actions.js'

const OUTPUT = [
  '-o, --output <path>',
  'write to a new file, - for standard output (default: change the image itself)',
] as const
const KEYFILE = ['-k, --keyfile <path>', 'NetworkManager keyfile'] as const
const DIRECTORY = ['-C, --directory <path>', 'extract to this folder (default: print them)'] as const
const INITRD = ['[initrd]', 'initramfs (default: standard input)'] as const
const WRAP_OUTPUT = ['-o, --output <path>', 'write to a file (default: standard output)'] as const

/**
 * Adds `iso` and `pxe`: coreos-installer's commands for live images, with its options, and with its words and exit codes
 * when something fails. Why their options are not in the table: `installer-syntax.ts`.
 */
export function addLiveCommands(program: Command, addAction: AddAction): void {
  addIso(program, addAction)
  addPxe(program, addAction)
}

/** Commands of `iso` take the ISO first, and some another file. */
const isoAction =
  <O>(
    work: (iso: typeof isoWork) => (path: string, options: O, command: LiveCommand, more?: string) => Promise<void>,
  ) =>
  async (): Promise<CommandAction<O>> => {
    const [{ liveAction: live }, iso] = await Promise.all([import('./live-action.js'), import('./iso-actions.js')])
    return live(([path, more], options, command) => work(iso)(path!, options, command, more))
  }

const pxeAction =
  <O>(
    work: (pxe: typeof pxeWork) => (path: string | undefined, options: O, command: LiveCommand) => Promise<void> | void,
  ) =>
  async (): Promise<CommandAction<O>> => {
    const [{ liveAction: live }, pxe] = await Promise.all([import('./live-action.js'), import('./pxe-actions.js')])
    return live(([path], options, command) => work(pxe)(path, options, command))
  }

/** Adds a command below `iso`, which takes the ISO first. */
type AddIsoCommand = <O extends object>(command: Command, work: Parameters<typeof isoAction<O>>[0]) => void

function addIso(program: Command, addAction: AddAction): void {
  const onIso: AddIsoCommand = (command, work) =>
    addAction(command.argument('<ISO>', 'CoreOS live ISO'), isoAction(work))
  const root = program.command('iso').description('customise a CoreOS live ISO, as coreos-installer does')
  const customize = addCustomizeOptions(
    root.command('customize').description('customise what an ISO does when it boots'),
  )
    .addOption(repeatableOption('--live-karg-append <arg>', 'kernel argument to add to the live system'))
    .addOption(repeatableOption('--live-karg-delete <arg>', 'kernel argument to take from the live system'))
    .addOption(
      repeatableOption('--live-karg-replace <k=o=n>', 'kernel argument of the live system to replace: key=old=new'),
    )
    .option('-f, --force', 'replace earlier customisations')
    .option(...OUTPUT)
  onIso(customize, (iso) => iso.isoCustomize)
  addIsoIgnition(root, onIso)
  addIsoNetwork(root, onIso)
  addIsoKargs(root, onIso)
  addIsoExtract(root, onIso)
  onIso(
    root
      .command('reset')
      .description('restore the published ISO')
      .option(...OUTPUT),
    (iso) => iso.isoReset,
  )
}

function addIsoIgnition(root: Command, onIso: AddIsoCommand): void {
  const ignition = root.command('ignition').description('the Ignition config in an ISO')
  const embed = ignition.command('embed').description('embed a config')
  onIso(
    embed
      .option('-f, --force', 'replace a config that is there')
      .option('-i, --ignition-file <path>', 'Ignition config (default: standard input)')
      .option(...OUTPUT),
    (iso) => iso.ignitionEmbed,
  )
  onIso(ignition.command('show').description('print the config'), (iso) => iso.ignitionShow)
  onIso(
    ignition
      .command('remove')
      .description('remove the config')
      .option(...OUTPUT),
    (iso) => iso.ignitionRemove,
  )
}

function addIsoNetwork(root: Command, onIso: AddIsoCommand): void {
  const network = root.command('network').description('the network settings in an ISO')
  onIso(
    network
      .command('embed')
      .description('embed NetworkManager keyfiles')
      .addOption(repeatableOption(...KEYFILE).makeOptionMandatory())
      .option('-f, --force', 'replace existing settings')
      .option(...OUTPUT),
    (iso) => iso.networkEmbed,
  )
  onIso(
    network
      .command('extract')
      .description('print or extract the keyfiles')
      .option(...DIRECTORY),
    (iso) => iso.networkExtract,
  )
  onIso(
    network
      .command('remove')
      .description('remove the keyfiles')
      .option(...OUTPUT),
    (iso) => iso.networkRemove,
  )
}

function addIsoKargs(root: Command, onIso: AddIsoCommand): void {
  const kargs = root.command('kargs').description('the kernel arguments of an ISO')
  onIso(
    kargs
      .command('modify')
      .description('change the kernel arguments')
      .addOption(repeatableOption('-a, --append <KARG>', 'argument to add'))
      .addOption(repeatableOption('-d, --delete <KARG>', 'argument to take away'))
      .addOption(repeatableOption('-r, --replace <KARG=OLDVAL=NEWVAL>', 'argument to replace'))
      .option(...OUTPUT),
    (iso) => iso.kargsModify,
  )
  onIso(
    kargs
      .command('reset')
      .description('restore the default kernel arguments')
      .option(...OUTPUT),
    (iso) => iso.kargsReset,
  )
  onIso(
    kargs.command('show').description('print the kernel arguments').option('-d, --default', 'print the default ones'),
    (iso) => iso.kargsShow,
  )
}

function addIsoExtract(root: Command, onIso: AddIsoCommand): void {
  const extract = root.command('extract').description('files of an ISO')
  onIso(
    extract
      .command('pxe')
      .description('kernel, initramfs and root filesystem')
      .option('-o, --output-dir <PATH>', 'folder to write to', '.'),
    (iso) => iso.extractPxe,
  )
  onIso(
    extract
      .command('minimal-iso')
      .description('an ISO without the root filesystem')
      .option('--output-rootfs <PATH>', 'extract the root filesystem too')
      .option('--rootfs-url <URL>', 'where the ISO is to fetch it from'),
    (iso) => iso.extractMinimalIso,
  )
  extract.commands.at(-1)!.argument('[OUTPUT_ISO]', 'file to write (default: -)')
}

function addPxe(program: Command, addAction: AddAction): void {
  const root = program.command('pxe').description('customise CoreOS for PXE, as coreos-installer does')
  addAction(
    addCustomizeOptions(root.command('customize').description('customise what an initramfs does when it boots'))
      .argument('<path>', 'CoreOS live initramfs')
      .requiredOption('-o, --output <path>', 'new file, - for standard output'),
    pxeAction(
      (pxe) => (path, options: Parameters<typeof pxe.pxeCustomize>[1], live) => pxe.pxeCustomize(path!, options, live),
    ),
  )
  addPxeIgnition(root, addAction)
  addPxeNetwork(root, addAction)
  addPxeBoot(root, addAction)
}

function addPxeIgnition(root: Command, addAction: AddAction): void {
  const ignition = root.command('ignition').description('an Ignition config for PXE')
  addAction(
    ignition
      .command('wrap')
      .description('wrap a config in an archive to append to an initramfs')
      .option('-i, --ignition-file <path>', 'Ignition config (default: standard input)')
      .option(...WRAP_OUTPUT),
    pxeAction(
      (pxe) => (_, options: Parameters<typeof pxe.pxeIgnitionWrap>[0], live) => pxe.pxeIgnitionWrap(options, live),
    ),
  )
  addAction(
    ignition
      .command('unwrap')
      .description('print the config')
      .argument(...INITRD),
    pxeAction((pxe) => pxe.pxeIgnitionUnwrap),
  )
}

function addPxeNetwork(root: Command, addAction: AddAction): void {
  const network = root.command('network').description('network settings for PXE')
  addAction(
    network
      .command('wrap')
      .description('wrap NetworkManager keyfiles in an archive to append to an initramfs')
      .addOption(repeatableOption(...KEYFILE).makeOptionMandatory())
      .option(...WRAP_OUTPUT),
    pxeAction(
      (pxe) => (_, options: Parameters<typeof pxe.pxeNetworkWrap>[0], live) => pxe.pxeNetworkWrap(options, live),
    ),
  )
  addAction(
    network
      .command('unwrap')
      .description('print or extract the keyfiles')
      .argument(...INITRD)
      .option(...DIRECTORY),
    pxeAction((pxe) => pxe.pxeNetworkUnwrap),
  )
}

/** Commands for booting the live system from the network: ironstage's own, in the form of those beside them. */
function addPxeBoot(root: Command, addAction: AddAction): void {
  const sources = (command: Command): Command =>
    command
      .option('--rootfs-url <URL>', 'the root filesystem')
      .option('--ignition-url <URL>', 'the Ignition config (default: in the initramfs)')
      .option('--ignition', 'there is an Ignition config in the initramfs')
      .option('--ip-options <ARGS>', 'arguments of the network, as ip=dhcp6')
      .option('--append <ARGS>', "more kernel arguments, as those that Ironic's kernel_append_params has")
  addAction(
    sources(root.command('kargs').description('print the kernel arguments that a live boot needs')),
    pxeAction((pxe) => (_, options: Parameters<typeof pxe.pxeKargs>[0], live) => pxe.pxeKargs(options, live)),
  )
  addAction(
    sources(root.command('ipxe').description('print an iPXE script that boots the live system'))
      .requiredOption('--kernel-url <URL>', 'the kernel')
      .addOption(repeatableOption('--initrd-url <URL>', 'the initramfs, and archives after it').makeOptionMandatory()),
    pxeAction((pxe) => (_, options: Parameters<typeof pxe.pxeIpxe>[0], live) => pxe.pxeIpxe(options, live)),
  )
}
