import { SWITCH_SYSTEMS } from './switch-systems.js'

/** A text of at most 480 bytes: a TLV has 511. */
const lldpTextSchema = (description: string) => ({ type: 'string', minLength: 1, maxLength: 120, description })
const vlanIdSchema = (description: string) => ({ type: 'integer', minimum: 1, maximum: 4094, description })

/** `nics[].lldp` of a hardware file. */
export const LLDP_SCHEMA = {
  type: ['object', 'null'],
  additionalProperties: false,
  properties: {
    switch: {
      enum: Object.keys(SWITCH_SYSTEMS),
      description: 'network operating system, which decides what is announced; default: one that sends little',
    },
    name: lldpTextSchema('system name; default: switch-1'),
    chassis: {
      type: 'string',
      pattern: '^[0-9a-f]{2}(:[0-9a-f]{2}){5}$',
      description: 'MAC address of the switch, lower case; default: the same for all NICs',
    },
    port: lldpTextSchema('Port ID; default: by the switch and the position of the NIC'),
    portDescription: lldpTextSchema('port description; default: by the switch'),
    untaggedVlan: vlanIdSchema('VLAN of frames without a tag; default: by the switch'),
    vlans: {
      type: 'array',
      maxItems: 64,
      description: 'VLANs that are announced by name',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['id'],
        properties: {
          id: vlanIdSchema('number of the VLAN'),
          name: { type: 'string', minLength: 1, maxLength: 32, description: 'name; default: vlan- and its number' },
        },
      },
    },
    mtu: {
      type: 'integer',
      minimum: 64,
      maximum: 65535,
      description: 'largest frame in bytes; default: by the switch',
    },
    managementAddresses: {
      type: 'array',
      maxItems: 16,
      description: 'IPv4 and IPv6 addresses of the switch; default: by the switch',
      items: { type: 'string', pattern: '^[0-9a-fA-F.:]+$' },
    },
  },
  description: 'port of the switch at the other end of the cable, as LLDP announces it; null for one that sends none',
}
