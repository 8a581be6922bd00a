import { CAPABILITY_WORDS } from '../value-words.js'
import {
  ABSOLUTE_PATH,
  FLAG,
  OPTION_TEXT_SCHEMA,
  OPTION_TEXTS_SCHEMA,
  type CommandOptionShape,
} from './option-shape.js'

/** Options of the target: a simulated machine, a disk of this host or a machine behind SSH. */
export const TARGET_SHAPES = {
  'ironic-url': {
    value: 'URL',
    example: 'http://127.0.0.1:6385',
    description:
      'Ironic API to use; for deploy it must be an ironstage, and env takes the URL from OS_ENDPOINT or IRONIC_ENDPOINT ' +
      '(default: start one for this deployment)',
    schema: { type: 'string', pattern: '^(https?://.*|env)$' },
  },
  target: {
    value: 'TARGET',
    example: 'local:disk.img',
    description:
      'machine to work on: sim is a simulated one; local:FILE or local:/dev/disk/by-id/... is a file or disk of this host; ' +
      'local or ssh://user@host:port, with --device, is a disk of this host or of a machine behind SSH (default: sim)',
    schema: { type: 'string', pattern: '^(sim|local|local:.+|ssh://.+)$' },
  },
  device: {
    value: 'DISK',
    description:
      'the one disk of a real target that may be written: its serial number, WWN or name below /dev/disk/by-id; for a ' +
      'disk without these, such as a virtio disk, its name below /dev/disk/by-path; a kernel name only with --yes-erase',
    schema: OPTION_TEXT_SCHEMA,
  },
  'yes-erase': {
    value: 'SERIAL|WWN|SIZE',
    description:
      'serial number or WWN that the disk must have when --device is a kernel name; size, such as 60GB, that it must have when ' +
      '--device is a name below /dev/disk/by-path',
    schema: OPTION_TEXT_SCHEMA,
  },
  allow: {
    value: 'WHAT',
    description: `what may be done to a real target besides writing its disk: ${CAPABILITY_WORDS.join(', ')}; may be repeated`,
    schema: { type: 'array', items: { type: 'string', enum: [...CAPABILITY_WORDS] } },
  },
  'target-is-disposable': {
    description: 'allow programs of any kind to change the target itself, not only its disk',
    schema: FLAG,
  },
  'target-root': {
    value: 'DIR',
    example: '/host',
    description:
      "root of the machine's own file system when ironstage runs in a container on it; programs run there by chroot",
    schema: ABSOLUTE_PATH,
  },
  installer: {
    value: 'PATH|built-in',
    example: '/usr/bin/coreos-installer',
    description:
      'path of coreos-installer on the real target (default: the one on its PATH); on this host also built-in: ' +
      "ironstage's own, which needs neither udev nor a kernel that reads GPT",
    schema: { ...ABSOLUTE_PATH, pattern: `^built-in$|${ABSOLUTE_PATH.pattern}` },
  },
  'host-key': {
    value: '[PHASE=]SHA256:...',
    description:
      'host key to accept besides those in known_hosts: of the live system, or with installed= of the installed system; ' +
      'installed=proven accepts the key of the system that holds the secret that --verify-boot installs; ' +
      'may be repeated',
    schema: OPTION_TEXTS_SCHEMA,
  },
  'ssh-config': {
    value: 'FILE',
    description: "SSH client configuration, or none (default: ~/.ssh/config and the system's)",
    schema: OPTION_TEXT_SCHEMA,
  },
  'stage-image': {
    description:
      'copy the image into the memory of the machine behind SSH before installing, so a lost connection does no harm ' +
      '(default: stream it while installing)',
    schema: FLAG,
  },
  'verify-boot': {
    description: 'reboot the machine behind SSH and check that it boots the installed system; needs --allow reboot',
    schema: FLAG,
  },
  check: {
    description: 'only inspect the real target and show what would be destroyed',
    schema: FLAG,
  },
} as const satisfies Record<string, CommandOptionShape>
