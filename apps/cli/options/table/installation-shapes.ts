import { FLAG, KARGS, SIZE, OPTION_TEXT_SCHEMA, type CommandOptionShape } from './option-shape.js'

/** Options of the image, the Ignition config and the disk of an installation. */
export const INSTALLATION_SHAPES = {
  image: {
    value: 'FILE|URL|stream:NAME',
    description:
      'CoreOS metal image, raw or compressed with gzip, xz or zstd; stream:NAME, stream:URL of stream metadata, or ' +
      'stream:REGISTRY/REPO:TAG of a release, is the current image of a CoreOS stream (default: the rehearsal image)',
    schema: OPTION_TEXT_SCHEMA,
  },
  report: {
    value: 'FILE.html',
    description: 'write a report as one HTML file: timeline, steps, calls, causes of a failure, what is on the disk',
    schema: OPTION_TEXT_SCHEMA,
  },
  ignition: {
    value: 'FILE',
    description: 'Ignition config to install, - for standard input (default: a small example)',
    schema: OPTION_TEXT_SCHEMA,
  },
  'no-ignition-check': {
    description: 'install a config that Ignition would refuse, to see the first boot fail',
    schema: FLAG,
  },
  'append-karg': {
    value: 'ARG',
    example: 'console=ttyS0',
    description: 'kernel argument to add; may be repeated',
    schema: KARGS,
  },
  'delete-karg': {
    value: 'ARG',
    example: 'quiet',
    description: 'kernel argument to remove; may be repeated',
    schema: KARGS,
  },
  'disk-file': {
    value: 'FILE',
    description:
      "file to use as the machine's disk, without what Ignition writes at first boot (default: a new file, named in the report)",
    schema: OPTION_TEXT_SCHEMA,
  },
  'disk-size': {
    value: 'SIZE',
    example: '20GiB',
    description: 'size of the disk, as in 10GiB or 20GB (default: 10GiB)',
    schema: SIZE,
  },
  overwrite: {
    description: 'overwrite --disk-file even if ironstage did not create it',
    schema: FLAG,
  },
} as const satisfies Record<string, CommandOptionShape>
