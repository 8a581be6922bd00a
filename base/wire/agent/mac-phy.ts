/**
 * Operational MAU types of IEEE 802.3, by their numbers (RFC 4836, ifMauTypeList), in the words of ironic 39.0.0
 * drivers/modules/inspector/lldp_tlvs.py. Ironic knows none of the faster ones.
 */
export const MAU_TYPES = [
  'Unknown',
  'AUI',
  '10BASE-5',
  'FOIRL',
  '10BASE-2',
  '10BASE-T duplex mode unknown',
  '10BASE-FP',
  '10BASE-FB',
  '10BASE-FL duplex mode unknown',
  '10BROAD36',
  '10BASE-T half duplex',
  '10BASE-T full duplex',
  '10BASE-FL half duplex',
  '10BASE-FL full duplex',
  '100 BASE-T4',
  '100BASE-TX half duplex',
  '100BASE-TX full duplex',
  '100BASE-FX half duplex',
  '100BASE-FX full duplex',
  '100BASE-T2 half duplex',
  '100BASE-T2 full duplex',
  '1000BASE-X half duplex',
  '1000BASE-X full duplex',
  '1000BASE-LX half duplex',
  '1000BASE-LX full duplex',
  '1000BASE-SX half duplex',
  '1000BASE-SX full duplex',
  '1000BASE-CX half duplex',
  '1000BASE-CX full duplex',
  '1000BASE-T half duplex',
  '1000BASE-T full duplex',
  '10GBASE-X',
  '10GBASE-LX4',
  '10GBASE-R',
  '10GBASE-ER',
  '10GBASE-LR',
  '10GBASE-SR',
  '10GBASE-W',
  '10GBASE-EW',
  '10GBASE-LW',
  '10GBASE-SW',
  '10GBASE-CX4',
  '2BASE-TL',
  '10PASS-TS',
  '100BASE-BX10D',
  '100BASE-BX10U',
  '100BASE-LX10',
  '1000BASE-BX10D',
  '1000BASE-BX10U',
  '1000BASE-LX10',
  '1000BASE-PX10D',
  '1000BASE-PX10U',
  '1000BASE-PX20D',
  '1000BASE-PX20U',
] as const

/**
 * Capabilities of autonegotiation by their bits. Ironic reads 10BASE-T full duplex from the bit of half duplex, and so does
 * this: what it stores is compared with what the real one stores.
 */
const PMD_CAPABILITIES: readonly (readonly [bit: number, name: string])[] = [
  [14, '10BASE-T hdx'],
  [14, '10BASE-T fdx'],
  [12, '10BASE-T4'],
  [11, '100BASE-TX hdx'],
  [10, '100BASE-TX fdx'],
  [9, '100BASE-T2 hdx'],
  [8, '100BASE-T2 fdx'],
  [7, 'PAUSE fdx'],
  [6, 'Asym PAUSE fdx'],
  [5, 'Sym PAUSE fdx'],
  [4, 'Asym and Sym PAUSE fdx'],
  [3, '1000BASE-X hdx'],
  [2, '1000BASE-X fdx'],
  [1, '1000BASE-T hdx'],
  [0, '1000BASE-T fdx'],
]

/** Names of the capabilities whose bits are set, sorted as Python sorts them. */
export const pmdCapabilities = (bits: number): string[] =>
  PMD_CAPABILITIES.filter(([bit]) => bits & (1 << bit))
    .map(([, name]) => name)
    .sort()
