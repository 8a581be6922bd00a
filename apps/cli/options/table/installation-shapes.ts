import { FLAG, KARGS, SIZE, OPTION_TEXT_SCHEMA, OPTION_TEXTS_SCHEMA, type CommandOptionShape } from './option-shape.js'

/** Options of the image, its cache, the Ignition config and the disk of an installation. */
export const INSTALLATION_SHAPES = {
  image: {
    value: 'FILE|URL|stream:NAME',
    description:
      'CoreOS metal image, raw or compressed with gzip, xz or zstd; stream:NAME, stream:URL of stream metadata, or ' +
      'stream:REGISTRY/REPO:TAG of a release, is the current image of a CoreOS stream (default: the rehearsal image)',
    schema: OPTION_TEXT_SCHEMA,
  },
  'cache-dir': {
    value: 'DIR',
    description: 'folder of the image cache (default: ironstage/images in XDG_CACHE_HOME or ~/.cache)',
    schema: OPTION_TEXT_SCHEMA,
  },
  'cache-as': {
    value: 'fetched|zstd|raw',
    description:
      'store cached images as fetched, recompressed to zstd, which installs faster, or decompressed, which installs fastest ' +
      'and takes most room (default: fetched)',
    schema: { type: 'string', enum: ['fetched', 'zstd', 'raw'] },
  },
  'cache-size': {
    value: 'SIZE',
    example: '20GiB',
    description: 'limit of the image cache; the least recently used images go first (default: 20GiB)',
    schema: SIZE,
  },
  'no-cache': {
    description: 'use no image cache: each installation fetches its image',
    schema: FLAG,
  },
  'image-ca': {
    value: 'FILE',
    description: 'certificate authorities to trust for image servers, PEM (default: those of Node.js)',
    schema: OPTION_TEXT_SCHEMA,
  },
  'image-key': {
    value: 'FILE',
    description:
      'OpenPGP key, armoured, to accept image signatures from, besides those of Fedora and Red Hat; may be repeated',
    schema: OPTION_TEXTS_SCHEMA,
  },
  authfile: {
    value: 'FILE',
    description: "credentials for registries (default: REGISTRY_AUTH_FILE, or podman's and docker's files)",
    schema: OPTION_TEXT_SCHEMA,
  },
  mirrors: {
    value: 'FILE',
    description: 'mirrors of registries: an ImageContentSourcePolicy, mirror sets or a registries.conf',
    schema: OPTION_TEXT_SCHEMA,
  },
  report: {
    value: 'FILE.html',
    description: 'write a report as one HTML file: timeline, steps, calls, causes of a failure, what is on the disk',
    schema: OPTION_TEXT_SCHEMA,
  },
  all: { description: 'delete all images that are not in use', schema: FLAG },
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
    description: "file to use as the machine's disk (default: a new file, named in the report)",
    schema: OPTION_TEXT_SCHEMA,
  },
  'disk-size': {
    value: 'SIZE',
    example: '20GiB',
    description: 'size of the disk, as in 10GiB or 20GB (default: 10GiB)',
    schema: SIZE,
  },
  overwrite: {
    description: 'overwrite --disk-file even if ironstage did not make it',
    schema: FLAG,
  },
} as const satisfies Record<string, CommandOptionShape>
