import { FLAG, type CommandOptionShape } from './option-shape.js'

/** Options of `ironstage hardware`. */
export const HARDWARE_SHAPES = {
  'keep-identities': {
    description: 'keep serial numbers, MAC addresses, WWNs, IP addresses and names (default: made-up ones)',
    schema: FLAG,
  },
  'hardware-format': {
    flag: 'format',
    value: 'NAME',
    description: 'hardware, ironic-inventory or hardware-data (default: hardware)',
    schema: { type: 'string', enum: ['hardware', 'ironic-inventory', 'hardware-data'] },
  },
} as const satisfies Record<string, CommandOptionShape>
