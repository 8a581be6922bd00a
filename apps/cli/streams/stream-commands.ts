import { Option, type Command } from 'commander'
import { addFetchOptions, type FetchFlags } from './fetch-options.js'
import type { AddAction } from '../command-action.js'
import type { ConvertFlags, DiffFlags, PublishFlags, ValidateFlags } from './stream-actions.js'
import type { LookupFlags } from './stream-offers.js'
import type { ServeFlags } from './stream-serve.js'

const STREAM_OPERAND = [
  '<STREAM>',
  'name, URL or file of a stream, or a release as in oci:DIR or quay.io/REPO:TAG; #rhel-9 behind it names one of several',
] as const
const JSON_FLAG = ['--json', 'print JSON'] as const

/** Adds `stream` and its commands. */
export function addStreamCommands(program: Command, addAction: AddAction): void {
  const root = program.command('stream').description('work on stream, release and build metadata of CoreOS')
  addAction(
    root
      .command('validate')
      .description('check metadata against its schema and for contradictions')
      .argument('<FILE...>', 'stream, release, index or build metadata, or a coreos-bootimages ConfigMap; - for stdin')
      .option('--insecure', 'let http pass')
      .option('--after <FILE>', 'refuse a stream that is older than this one')
      .option(...JSON_FLAG),
    async () => {
      const { streamValidate } = await import('./stream-actions.js')
      return ([files], flags: ValidateFlags, environment) => streamValidate(files as string[], flags, environment)
    },
  )
  addAction(
    root
      .command('convert')
      .description('convert builds to a release, builds and releases to a stream or an index, streams to a ConfigMap')
      .argument('<FILE...>', 'meta.json, release.json or stream metadata; - for standard input')
      .addOption(
        new Option('--to <KIND>', 'what to make')
          .choices(['release', 'stream', 'index', 'config-map'])
          .default('stream'),
      )
      .option('--target <FILE>', 'a stream whose other architectures stay, or an index whose releases do')
      .option('--name <NAME>', 'name of the stream')
      .option('--base-url <URL>', "where builds are published (default: Fedora's)")
      .option('--no-signatures', 'nothing is signed')
      .option('--release-version <VERSION>', 'of OpenShift, for a ConfigMap')
      .option('-o, --output <FILE>', 'write to a file'),
    async () => {
      const { streamConvert } = await import('./stream-actions.js')
      return ([files], flags: ConvertFlags, environment) => streamConvert(files as string[], flags, environment)
    },
  )
  addAction(
    addFetchOptions(root.command('lookup').description('find a file or a cloud image; without arguments, list all'))
      .argument(...STREAM_OPERAND)
      .option('-a, --architecture <ARCH>', 'as uname -m says', 'x86_64')
      .option('-p, --platform <NAME>', 'metal, openstack, qemu ...', 'metal')
      .option('-f, --format <NAME>', 'raw.gz, iso, pxe ...')
      .addOption(
        new Option('--file <NAME>', 'of a format with several').choices(['disk', 'kernel', 'initramfs', 'rootfs']),
      )
      .addOption(
        new Option('--cloud <NAME>', 'whose image').choices(['aws', 'aliyun', 'ibmcloud', 'powervs']).default('aws'),
      )
      .option('--region <NAME>', 'region of the cloud')
      .option('--field <NAME>', 'print this alone: location, sha256, release, image ...')
      .option('--pin <DATE>', 'the copy of this date of a published stream, as in streams/stream-4.8')
      .option('--pin-sha256 <DIGEST>', 'what the copy must be')
      .option(...JSON_FLAG),
    async () => {
      const { streamLookup } = await import('./stream-offers.js')
      return ([stream], flags: LookupFlags, environment) => streamLookup(stream as string, flags, environment)
    },
  )
  addAction(
    addFetchOptions(root.command('diff').description('show the differences of two copies of a stream'))
      .argument('<STREAM>', STREAM_OPERAND[1])
      .argument('<OTHER>', 'another')
      .option(...JSON_FLAG),
    async () => {
      const { streamDiff } = await import('./stream-actions.js')
      return (operands, flags: DiffFlags, environment) => streamDiff(operands as string[], flags, environment)
    },
  )
  addAction(
    addFetchOptions(root.command('print').description('print stream metadata as JSON')).argument(...STREAM_OPERAND),
    async () => {
      const { streamPrint } = await import('./stream-actions.js')
      return ([stream], flags: FetchFlags, environment) => streamPrint(stream as string, flags, environment)
    },
  )
  addAction(
    addFetchOptions(root.command('publish').description('publish a stream beside its dated copies, which never change'))
      .argument(...STREAM_OPERAND)
      .argument('<SHELF>', 'folder and name, as in dependencies/rhcos/stream-4.8')
      .option(...JSON_FLAG),
    async () => {
      const { streamPublish } = await import('./stream-actions.js')
      return ([stream, shelf], flags: PublishFlags, environment) =>
        streamPublish(stream as string, shelf as string, flags, environment)
    },
  )
  addAction(
    root
      .command('serve')
      .description('serve streams and their files over HTTP, with ranges')
      .argument('<DIR>', 'streams/NAME.json, dependencies/rhcos/stream-X.Y.json, and files by their paths elsewhere')
      .option('--host <ADDRESS>', 'address to listen on', '127.0.0.1')
      .option('--port <PORT>', 'port to listen on; 0 picks a free one', '0')
      .option(...JSON_FLAG),
    async () => {
      const { streamServe } = await import('./stream-serve.js')
      return ([folder], flags: ServeFlags, environment) => streamServe(folder as string, flags, environment)
    },
  )
}
