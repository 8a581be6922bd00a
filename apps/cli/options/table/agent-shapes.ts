import { FLAG, OPTION_TEXT_SCHEMA, type CommandOptionShape } from './option-shape.js'

/** Options of `ironstage agent`: its node, its machine and the address that it listens on. */
export const AGENT_SHAPES = {
  'node-uuid': {
    value: 'UUID',
    example: '2c4ad1f6-6d3b-4c9a-9c1e-0d5b8f7a1e11',
    description: "UUID of the agent's node, for a node that cannot be found by its MAC address",
    schema: { type: 'string', pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' },
  },
  mac: {
    value: 'MAC',
    example: '52:54:00:00:00:01',
    description: 'MAC address of the boot NIC (default: that of the simulated machine)',
    schema: { type: 'string', pattern: '^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$' },
  },
  machine: {
    value: 'ID',
    description: 'machine of the state folder to use (default: a new one)',
    schema: OPTION_TEXT_SCHEMA,
  },
  hardware: {
    value: 'FILE',
    description:
      'YAML file with the hardware of new simulated machines: cpus, disks, nics ... (default: a common server)',
    schema: OPTION_TEXT_SCHEMA,
  },
  listen: {
    value: 'HOST:PORT',
    example: '127.0.0.1:9999',
    description:
      'address that the agent listens on; port 0 picks a free one (default: as the agent options say, else 127.0.0.1:0)',
    schema: { type: 'string', pattern: '^(\\[[0-9a-fA-F:]+\\]|[^:\\s]+):[0-9]{1,5}$' },
  },
  'kernel-params': {
    value: 'PARAMS',
    description: 'kernel parameters of the agent\'s ramdisk, as in "ipa-api-url=URL ipa-inspection-callback-url=URL"',
    schema: OPTION_TEXT_SCHEMA,
  },
  respawn: {
    description: 'boot the ramdisk again after each power-off (default: exit)',
    schema: FLAG,
  },
  standalone: {
    description: 'serve the agent API to clients with the token, without an Ironic',
    schema: FLAG,
  },
  token: {
    value: 'TOKEN',
    example: 'SECRET',
    description: 'token of a standalone agent (default: a new one, printed at start)',
    schema: { type: 'string', minLength: 1, pattern: '^\\S+$' },
  },
  'token-file': {
    value: 'FILE',
    description: 'file with the token of a standalone agent; other users can read a token on the command line',
    schema: OPTION_TEXT_SCHEMA,
  },
} as const satisfies Record<string, CommandOptionShape>
