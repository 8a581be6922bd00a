import { OS_VERSION_WORDS } from '../value-words.js'
import { FLAG, OPTION_TEXT_SCHEMA, WORDS, type CommandOptionShape } from './option-shape.js'

/** Options of `machine-os`; those of the container's environment have its variable's name in brackets. */
export const MACHINE_OS_SHAPES = {
  architectures: {
    flag: 'architecture',
    value: 'ARCH',
    short: 'a',
    description: "architecture of an ISO, as uname -m prints it; may be repeated (default: this host's)",
    schema: WORDS,
  },
  'coreos-version': {
    value: 'N',
    description: `major version of RHEL: ${OS_VERSION_WORDS.join(' or ')} (default: 9) [COREOS_VERSION]`,
    schema: { type: 'string', enum: [...OS_VERSION_WORDS] },
  },
  source: { value: 'DIR', description: 'folder with the ISOs (default: /coreos)', schema: OPTION_TEXT_SCHEMA },
  kargs: {
    value: 'ARGS',
    description: 'more kernel arguments for the live system [IP_OPTIONS]',
    schema: OPTION_TEXT_SCHEMA,
  },
  fips: { description: 'start the live system in FIPS mode', schema: FLAG },
  'initrd-only': { description: 'extract only the initramfs', schema: FLAG },
  pxe: { description: 'copy only the files for network boots', schema: FLAG },
  'image-build': { description: 'copy only what images for single machines are made of', schema: FLAG },
  build: {
    value: 'FILE',
    description: 'meta.json of the build that the images must belong to',
    schema: OPTION_TEXT_SCHEMA,
  },
  container: {
    value: 'FILE',
    description: 'output of skopeo inspect for the container image of that build',
    schema: OPTION_TEXT_SCHEMA,
  },
} as const satisfies Record<string, CommandOptionShape>
