import { OPTION_TEXT_SCHEMA, WORDS, type CommandOptionShape } from './option-shape.js'

/** Options of the live CoreOS images and the service that serves them. */
export const LIVE_IMAGE_SHAPES = {
  'live-iso': {
    value: 'FILE',
    description: 'published live CoreOS ISO to serve; also the source of kernel, initramfs and rootfs',
    schema: OPTION_TEXT_SCHEMA,
  },
  'live-kernel': { value: 'FILE', description: 'kernel of a live CoreOS to serve for PXE', schema: OPTION_TEXT_SCHEMA },
  'live-initramfs': { value: 'FILE', description: 'initramfs of that live CoreOS', schema: OPTION_TEXT_SCHEMA },
  'live-rootfs': { value: 'FILE', description: 'root filesystem of that live CoreOS', schema: OPTION_TEXT_SCHEMA },
  'live-image': {
    value: 'DIR',
    description: 'folder with live images under their published names, for one or more architectures',
    schema: OPTION_TEXT_SCHEMA,
  },
  'image-port': {
    value: 'PORT',
    example: '8080',
    description: 'port that live images are served at; 0 picks a free one (default: 0)',
    schema: { type: 'integer', minimum: 0, maximum: 65535 },
  },
  'public-url': {
    value: 'URL',
    example: 'http://192.0.2.1:8080',
    description: 'URL by which machines reach the images (default: the address that is listened on)',
    schema: { type: 'string', pattern: '^https?://[^\\s$]+$' },
  },
  node: {
    value: 'NAME',
    example: 'machine-1',
    description: 'make an ISO and initramfs for this machine alone, with its host name; may be repeated',
    schema: WORDS,
  },
} as const satisfies Record<string, CommandOptionShape>
