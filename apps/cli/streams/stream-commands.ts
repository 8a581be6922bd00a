import { defineCommand, type TableCommand } from '../command-shape.js'
import * as takes from '../options/option-lists.js'
import type { CommandOptionName } from '../options/resolve-options.js'

const STREAM =
  'name, URL or file of a stream, or a release as in oci:DIR or quay.io/REPO:TAG; ' +
  'with #rhel-9 behind it, one of several streams'

/** Commands for metadata, and for the files that it lists. */
export const STREAM_COMMANDS: readonly TableCommand<CommandOptionName>[] = [
  defineCommand({
    usage: 'stream validate FILE...',
    description: 'check metadata against its schema and for contradictions',
    operands: {
      FILE: 'stream, release, index or build metadata, or a coreos-bootimages ConfigMap; - for standard input',
    },
    options: takes.STREAM_VALIDATE_OPTIONS,
    descriptions: { 'insecure-fetch': 'accept http' },
    load: async () => {
      const { streamValidate } = await import('./stream-actions.js')
      return (options, { environment, operands }) => streamValidate(options, environment, operands)
    },
  }),
  defineCommand({
    usage: 'stream convert FILE...',
    description: 'convert builds to a release, builds and releases to a stream or an index, streams to a ConfigMap',
    operands: { FILE: 'meta.json, release.json or stream metadata; - for standard input' },
    options: takes.STREAM_CONVERT_OPTIONS,
    descriptions: { output: 'write to a file (default: standard output)' },
    load: async () => {
      const { streamConvert } = await import('./stream-actions.js')
      return (options, { environment, operands }) => streamConvert(options, environment, operands)
    },
  }),
  defineCommand({
    usage: 'stream lookup STREAM',
    description: 'find a file or a cloud image; without --format and --region, list all',
    operands: { STREAM },
    options: takes.STREAM_LOOKUP_OPTIONS,
    descriptions: {
      architecture: 'architecture as uname -m prints it (default: x86_64)',
      format: 'format of the image: raw.gz, iso, pxe ...',
    },
    load: async () => {
      const { streamLookup } = await import('./stream-offers.js')
      return (options, { environment, operands: [stream = ''] }) => streamLookup(options, environment, stream)
    },
  }),
  defineCommand({
    usage: 'stream diff STREAM OTHER',
    description: 'show the differences between two copies of a stream',
    operands: { STREAM, OTHER: 'the other copy' },
    options: takes.STREAM_DIFF_OPTIONS,
    load: async () => {
      const { streamDiff } = await import('./stream-actions.js')
      return (options, { environment, operands }) => streamDiff(options, environment, operands)
    },
  }),
  defineCommand({
    usage: 'stream print STREAM',
    description: 'print stream metadata as JSON',
    operands: { STREAM },
    options: takes.STREAM_PRINT_OPTIONS,
    load: async () => {
      const { streamPrint } = await import('./stream-actions.js')
      return (options, { environment, operands: [stream = ''] }) => streamPrint(options, environment, stream)
    },
  }),
  defineCommand({
    usage: 'stream publish STREAM SHELF',
    description: 'publish a stream beside its dated copies, which never change',
    operands: { STREAM, SHELF: 'folder and name, as in dependencies/rhcos/stream-4.8' },
    options: takes.STREAM_PUBLISH_OPTIONS,
    load: async () => {
      const { streamPublish } = await import('./stream-actions.js')
      return (options, { environment, operands: [stream = '', shelf = ''] }) =>
        streamPublish(options, environment, stream, shelf)
    },
  }),
  defineCommand({
    usage: 'stream serve DIR',
    description: 'serve streams and their files over HTTP, with range requests',
    operands: { DIR: 'streams/NAME.json, dependencies/rhcos/stream-X.Y.json, and files by their original paths' },
    options: takes.STREAM_SERVE_OPTIONS,
    load: async () => {
      const { streamServe } = await import('./stream-serve.js')
      return (options, { environment, operands: [folder = ''] }) => streamServe(options, environment, folder)
    },
  }),
  defineCommand({
    usage: 'download',
    description: 'fetch CoreOS files, verified by digest and signature',
    options: takes.DOWNLOAD_OPTIONS,
    descriptions: { stream: 'name, URL or file of the stream (default: stable)' },
    load: async () => {
      const { download } = await import('./download-actions.js')
      return (options, { environment }) => download(options, environment)
    },
  }),
  defineCommand({
    usage: 'images make',
    description: 'make small images of a CoreOS version: live ISO, files for PXE, disk image, stream.json',
    options: takes.IMAGES_MAKE_OPTIONS,
    required: ['version'],
    descriptions: {
      version: 'version of the images, such as 44.20260707.3.1 or 9.6.20260112-0',
      directory: 'folder to write to, created if missing (default: the current one)',
      force: 'replace existing files',
    },
    load: async () => {
      const { imagesMake } = await import('./images-make-actions.js')
      return (options, { environment }) => imagesMake(options, environment)
    },
  }),
]
