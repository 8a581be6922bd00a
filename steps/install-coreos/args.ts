import type { OwnHostname } from '../../ignition/index.js'
import type { ArgSchema, ArgsSchema } from '../sdk/arg-types.js'

/** Arguments of the `install_coreos` step. Configdrive and instance_info replace missing ones. */
export interface InstallCoreosArgs {
  /** Ignition config as an object or JSON text. Replaces the configdrive's user data. */
  ignition?: object | string
  append_karg?: string | readonly string[]
  delete_karg?: string | readonly string[]
  image_url?: string
  image_sha256?: string
  copy_network?: boolean
  hostname?: string | false
  /** Source whose name is taken when both have one. Default `meta_data`. */
  hostname_source?: 'meta_data' | 'live'
  /** Treatment of an /etc/hostname of the config itself. Default `duplicate`, as OpenShift's step. */
  own_hostname?: OwnHostname
  /** Ignition platform ID of the installed system. Default `metal`. */
  platform?: string
  console?: string | readonly string[]
  /** True if an image from a URL may come without a signature. Default true. */
  insecure?: boolean
  /** Leaves the partition table of a failed installation in place. */
  preserve_on_error?: boolean
  /** False installs a config that Ignition will refuse at first boot. */
  check_ignition?: boolean
  /** Ejects the virtual media that the live system was booted from, for servers that would boot them again. */
  eject_media?: boolean
}

// A line break would end the boot entry's line, a NUL cannot be an argument.
const word = { type: 'string', minLength: 1, pattern: '^[^\\u0000\\r\\n]+$' }
const wordsSchema = { anyOf: [word, { type: 'array', items: word }] }

export const INSTALL_ARGS: ArgsSchema & { properties: Record<keyof InstallCoreosArgs, ArgSchema> } = {
  properties: {
    ignition: {
      type: ['object', 'string'],
      description: 'Ignition config (spec 3.x) as an object or JSON text. Replaces user_data of the configdrive.',
    },
    append_karg: {
      ...wordsSchema,
      description:
        'Kernel argument or list of them to add to the installed system. Replaces coreos_append_karg of meta_data.',
    },
    delete_karg: {
      ...wordsSchema,
      description: 'Kernel argument or list of them to remove from the installed system.',
    },
    image_url: {
      type: 'string',
      pattern: '^https?://[^\\s]+$',
      description:
        'URL of the image to install. Default: image_source of instance_info, or else the image that the live system carries.',
    },
    image_sha256: {
      type: 'string',
      pattern: '^[0-9a-fA-F]{64}$',
      description:
        'SHA-256 of the image as it is served, in hex: any other is refused before a disk is touched. Default: image_os_hash_value or image_checksum of instance_info, where they are one.',
    },
    copy_network: {
      type: 'boolean',
      description:
        'Whether to take over the network configuration of the live system. Default: coreos_copy_network of meta_data.',
    },
    hostname: {
      anyOf: [
        { type: 'string', maxLength: 253, pattern: '^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$' },
        { const: false },
      ],
      description: 'Name of the machine, or false to leave its name alone. Default: from meta_data or the live system.',
    },
    hostname_source: {
      enum: ['meta_data', 'live'],
      description:
        "Whose name is taken first: that in meta_data of the configdrive, or the live system's (from DHCP), which alone OpenShift's step takes. Default: meta_data.",
    },
    own_hostname: {
      enum: ['duplicate', 'replace', 'keep'],
      description:
        "For a config that writes /etc/hostname itself: duplicate adds a second entry as OpenShift's step does, and Ignition refuses the whole config at first boot; replace drops the config's own, keep adds no name. Default: duplicate.",
    },
    platform: { ...word, description: 'Ignition platform ID of the installed system. Default: metal.' },
    console: { ...wordsSchema, description: 'Console or list of them for kernel and boot loader: ttyS0,115200n8.' },
    insecure: {
      type: 'boolean',
      description: 'Whether an image from a URL may come without a signature. Default: true.',
    },
    preserve_on_error: {
      type: 'boolean',
      description: 'Whether to leave the partition table of a failed installation for debugging. Default: false.',
    },
    check_ignition: {
      type: 'boolean',
      description:
        'Whether to refuse, before a disk is touched, a config that Ignition would refuse at first boot. Default: true.',
    },
    eject_media: {
      type: 'boolean',
      description:
        'Whether the live system lets go of the virtual media that it was booted from, once the disk is installed: for servers that would boot them again. Default: IPA_COREOS_EJECT_MEDIA of the agent.',
    },
  },
}
