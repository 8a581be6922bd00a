import { FLAG, OPTION_TEXT_SCHEMA, OPTION_TEXTS_SCHEMA, SIZE, type CommandOptionShape } from './option-shape.js'

/** Options of every command that fetches images. */
export const IMAGE_CACHE_SHAPES = {
  'cache-dir': {
    value: 'DIR',
    description: 'folder of the image cache (default: ironstage/images in XDG_CACHE_HOME or ~/.cache)',
    schema: OPTION_TEXT_SCHEMA,
  },
  'cache-as': {
    value: 'fetched|zstd|raw',
    description:
      'store cached images as fetched, recompressed to zstd, which installs faster, or decompressed, which installs fastest ' +
      'and takes the most space (default: fetched)',
    schema: { type: 'string', enum: ['fetched', 'zstd', 'raw'] },
  },
  'cache-size': {
    value: 'SIZE',
    example: '20GiB',
    description: 'size limit of the image cache; removes the least recently used images first (default: 20GiB)',
    schema: SIZE,
  },
  'no-cache': {
    description: 'do not use the image cache: each installation fetches its image',
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
      'armoured OpenPGP key whose image signatures are accepted, besides those of Fedora and Red Hat; may be repeated',
    schema: OPTION_TEXTS_SCHEMA,
  },
} as const satisfies Record<string, CommandOptionShape>

/** Options of every command that takes a stream of a release in a registry. */
export const REGISTRY_SHAPES = {
  authfile: {
    value: 'FILE',
    description: "credentials for registries (default: REGISTRY_AUTH_FILE, or podman's and docker's files)",
    schema: OPTION_TEXT_SCHEMA,
  },
  mirrors: {
    value: 'FILE',
    description:
      "mirrors of registries: an ImageContentSourcePolicy, mirror sets, a registries.conf, oc-mirror's workspace or disk archive",
    schema: OPTION_TEXT_SCHEMA,
  },
} as const satisfies Record<string, CommandOptionShape>

/** Options of every command that reads published metadata and files. */
export const PUBLISHED_SHAPES = {
  'stream-base-url': {
    value: 'URL',
    example: 'https://builds.coreos.fedoraproject.org/streams/',
    description: "URL of the folder with a stream's NAME.json (default: Fedora's, or streams/ of --mirror)",
    schema: OPTION_TEXT_SCHEMA,
  },
  mirror: {
    value: 'URL',
    example: 'http://mirror.example.org',
    description: 'fetch from this server only; its files have the paths of the original servers',
    schema: OPTION_TEXT_SCHEMA,
  },
  offline: { description: 'use only what was fetched before; no network', schema: FLAG },
  'insecure-fetch': {
    flag: 'insecure',
    description: 'accept http and files without a signature',
    schema: FLAG,
  },
} as const satisfies Record<string, CommandOptionShape>
