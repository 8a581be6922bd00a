import type { SwitchSystemName } from './switch-systems.js'

/** A VLAN that a switch names at a port. */
export interface LldpVlan {
  /** 1 to 4094. */
  readonly id: number
  /** Default: `vlan-` and the id. */
  readonly name?: string
}

/** The switch at the other end of a NIC's cable, as its LLDP frames describe it. */
export interface LldpNeighbour {
  /** Network operating system, which decides what is announced, and how. Default: one that sends what LLDP requires, and its name. */
  readonly switch?: SwitchSystemName
  /** System name. Default: `switch-1`. */
  readonly name?: string
  /** Chassis MAC address, lower case. Default: that of the one switch at which all NICs are. */
  readonly chassis?: string
  /** Port ID. Default: by the switch and the position of the NIC. */
  readonly port?: string
  readonly portDescription?: string
  /** VLAN of frames without a tag. */
  readonly untaggedVlan?: number
  /** VLANs that are announced by name. */
  readonly vlans?: readonly LldpVlan[]
  /** Largest frame in bytes. */
  readonly mtu?: number
  /** IPv4 and IPv6 addresses. */
  readonly managementAddresses?: readonly string[]
}
