/** Announcements of a network operating system by LLDP, unless it is configured otherwise. */
export interface SwitchSystem {
  /** System description; null where none is sent. */
  readonly description: string | null
  /** Matches the system descriptions of all its versions. */
  readonly recognizedBy: RegExp | null
  /** Port ID of a port. @param at position of the port, from 1 */
  readonly port: (at: number) => string
  /** Subtype of a Port ID that is no MAC address: 5 is an interface's name, 7 is locally assigned. */
  readonly portSubtype: (port: string) => 5 | 7
  /** Port description of a port; null where none is sent. */
  readonly portDescription: ((at: number) => string) | null
  /** Seconds. */
  readonly timeToLive: number
  /** Capabilities that it has and that are enabled, as bits of IEEE 802.1AB; null where none are sent. */
  readonly capabilities: { readonly supported: number; readonly enabled: number } | null
  readonly untaggedVlan: number | null
  /** Largest frame in bytes. */
  readonly mtu: number | null
  readonly hasLinkAggregation: boolean
  /** Whether the link-local IPv6 address of the chassis is a management address. */
  readonly hasLinkLocalAddress: boolean
  /** OUI, subtype and text of a TLV of the maker. */
  readonly ownTlv: { readonly oui: string; readonly subtype: number; readonly text: string } | null
}

const BRIDGE = 1 << 2
const ROUTER = 1 << 4
const BRIDGE_AND_ROUTER = BRIDGE | ROUTER

const byInterfaceName = (): 5 => 5
const byLocalName = (): 7 => 7

/** The parts of LLDP that are required, and a system name. */
export const PLAIN_SWITCH: SwitchSystem = {
  description: null,
  recognizedBy: null,
  port: (at) => `Ethernet1/${at}`,
  portSubtype: byInterfaceName,
  portDescription: null,
  timeToLive: 120,
  capabilities: null,
  untaggedVlan: null,
  mtu: null,
  hasLinkAggregation: false,
  hasLinkLocalAddress: false,
  ownTlv: null,
}

/**
 * Switches by the names in hardware files. Sources are frames of real switches: bl9ckm9mb9/lldp-mermaid stripping.py (EOS,
 * Junos), Uninett/nav#1903 (Junos), ironic test_local_link_connection (NX-OS), lldpd/lldpd#234 (Cumulus),
 * sonic-net/sonic-buildimage#1457 and #11255 (SONiC), the OS10 user guide, tables 59 to 61 (OS10: which TLVs are on). No
 * source has the capabilities, nor several values, which docs/hardware.md lists as ironstage's own.
 */
export const SWITCH_SYSTEMS = {
  'arista-eos': {
    ...PLAIN_SWITCH,
    description: 'Arista Networks EOS version 4.26.5M running on an Arista Networks DCS-7280SR-48C6',
    recognizedBy: /Arista Networks EOS/,
    port: (at) => `Ethernet${at}`,
    capabilities: { supported: BRIDGE_AND_ROUTER, enabled: BRIDGE },
    untaggedVlan: 1,
    mtu: 9236,
    hasLinkAggregation: true,
  },
  junos: {
    ...PLAIN_SWITCH,
    description: 'Juniper Networks, Inc. ex4300-48t Ethernet Switch, kernel JUNOS 14.1X53-D46.7',
    recognizedBy: /\bJUNOS\b/i,
    // The SNMP index of the interface, until `port-id-subtype interface-name` is set.
    port: (at) => `${524 + at}`,
    portSubtype: (port) => (/^\d+$/.test(port) ? 7 : 5),
    portDescription: (at) => `ge-0/0/${at - 1}`,
    capabilities: { supported: BRIDGE_AND_ROUTER, enabled: BRIDGE_AND_ROUTER },
    // The chassis's serial number.
    ownTlv: { oui: '009069', subtype: 1, text: 'PE3714060123' },
  },
  nxos: {
    ...PLAIN_SWITCH,
    description: 'Cisco Nexus Operating System (NX-OS) Software 9.3(10)',
    recognizedBy: /NX-OS/,
    capabilities: { supported: BRIDGE_AND_ROUTER, enabled: BRIDGE_AND_ROUTER },
    untaggedVlan: 1,
  },
  cumulus: {
    ...PLAIN_SWITCH,
    description: 'Cumulus Linux version 4.1.0 running on quanta lb9',
    recognizedBy: /Cumulus Linux/,
    port: (at) => `swp${at}`,
    portDescription: (at) => `swp${at}`,
    capabilities: { supported: BRIDGE_AND_ROUTER, enabled: BRIDGE_AND_ROUTER },
    hasLinkLocalAddress: true,
  },
  sonic: {
    ...PLAIN_SWITCH,
    description: 'SONiC Software Version: SONiC.20230531.22',
    recognizedBy: /SONiC/,
    // The alias of the port, by its lanes.
    port: (at) => `fortyGigE0/${4 * (at - 1)}`,
    portSubtype: byLocalName,
    capabilities: { supported: BRIDGE_AND_ROUTER, enabled: BRIDGE_AND_ROUTER },
  },
  'dell-os10': {
    ...PLAIN_SWITCH,
    description: 'Dell EMC Networking OS10 Enterprise',
    recognizedBy: /\bOS10\b/,
    port: (at) => `ethernet1/1/${at}`,
    capabilities: { supported: BRIDGE_AND_ROUTER, enabled: BRIDGE_AND_ROUTER },
    untaggedVlan: 1,
    mtu: 1532,
    hasLinkAggregation: true,
  },
  comware: {
    ...PLAIN_SWITCH,
    description: 'H3C Comware Platform Software, Software Version 7.1.045, Release 1005P09',
    recognizedBy: /Comware/,
    port: (at) => `GigabitEthernet1/0/${at}`,
    timeToLive: 121,
    capabilities: { supported: BRIDGE_AND_ROUTER, enabled: BRIDGE_AND_ROUTER },
  },
} as const satisfies Record<string, SwitchSystem>

/** Network operating system of a switch, as hardware files name it. */
export type SwitchSystemName = keyof typeof SWITCH_SYSTEMS

/** The system that describes itself so; undefined for an unknown one. */
export const switchSystemOf = (description: string): SwitchSystemName | undefined =>
  switchSystemNames.find((name) => SWITCH_SYSTEMS[name].recognizedBy.test(description))

const switchSystemNames = Object.keys(SWITCH_SYSTEMS) as SwitchSystemName[]
