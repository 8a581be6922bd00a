import { FLAG, OPTION_TEXT_SCHEMA, type CommandOptionShape } from './option-shape.js'

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
  'dump-system': {
    flag: 'system',
    value: 'ID',
    description: 'system of the dump whose machine is made (default: the only one, or the only one that can be reset)',
    schema: OPTION_TEXT_SCHEMA,
  },
  'dump-out': {
    flag: 'out',
    value: 'FOLDER',
    description: 'new folder to write into (default: one beside the dump, or named after the BMC)',
    schema: OPTION_TEXT_SCHEMA,
  },
  'bmc-certificate': {
    value: 'SHA256',
    description: "fingerprint of the BMC's certificate (default: the certificate is verified by the usual authorities)",
    schema: OPTION_TEXT_SCHEMA,
  },
  'insecure-bmc': { description: "do not verify the BMC's certificate", schema: FLAG },
} as const satisfies Record<string, CommandOptionShape>
