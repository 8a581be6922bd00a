import { isIPv6 } from 'node:net'
import type { AnnouncedNeighbour } from './announced-neighbour.js'

/** A type of IEEE 802.1AB and its value. */
export type LldpTlv = readonly [type: number, value: Buffer]

const LLDP_MULTICAST = '0180c200000e'
const LLDP_ETHERTYPE = '88cc'
const DOT1 = '0080c2'
const DOT3 = '00120f'
const MAC_PATTERN = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i
const MAC_CHASSIS = 4
const MAC_PORT = 3

/** TLVs that a switch port announces, in the order of IEEE 802.1AB: the required TLVs first, those of organizations last. */
export function lldpTlvs(neighbour: AnnouncedNeighbour): LldpTlv[] {
  const { system, chassis, name, portDescription, managementAddresses } = neighbour
  const { capabilities, ownTlv } = system
  const tlvs: LldpTlv[] = [
    [1, Buffer.concat([Buffer.of(MAC_CHASSIS), macBytes(chassis)])],
    [2, portId(neighbour)],
    [3, words16(system.timeToLive)],
  ]
  if (portDescription !== null) tlvs.push([4, Buffer.from(portDescription)])
  tlvs.push([5, Buffer.from(name)])
  if (system.description !== null) tlvs.push([6, Buffer.from(system.description)])
  if (capabilities) tlvs.push([7, words16(capabilities.supported, capabilities.enabled)])
  for (const address of managementAddresses) tlvs.push([8, managementAddress(address)])
  tlvs.push(...standardTlvs(neighbour))
  if (ownTlv) tlvs.push(organizationTlv(ownTlv.oui, ownTlv.subtype, Buffer.from(ownTlv.text)))
  return tlvs
}

/** TLVs of IEEE 802.1 and 802.3. */
function standardTlvs({ system, untaggedVlan, vlans, mtu }: AnnouncedNeighbour): LldpTlv[] {
  const tlvs: LldpTlv[] = []
  if (untaggedVlan !== null) tlvs.push(organizationTlv(DOT1, 1, words16(untaggedVlan)))
  for (const { id, name } of vlans) {
    const text = Buffer.from(name)
    tlvs.push(organizationTlv(DOT1, 3, Buffer.concat([words16(id), Buffer.of(text.length), text])))
  }
  // Capable, not aggregated, port 0.
  if (system.hasLinkAggregation) tlvs.push(organizationTlv(DOT3, 3, Buffer.from('0100000000', 'hex')))
  if (mtu !== null) tlvs.push(organizationTlv(DOT3, 4, words16(mtu)))
  return tlvs
}

function portId({ port, system }: AnnouncedNeighbour): Buffer {
  if (MAC_PATTERN.test(port)) return Buffer.concat([Buffer.of(MAC_PORT), macBytes(port)])
  return Buffer.concat([Buffer.of(system.portSubtype(port)), Buffer.from(port)])
}

/** An address with its family by IANA's numbers, at interface 1, without an object id. */
function managementAddress(address: string): Buffer {
  const bytes = isIPv6(address) ? ipv6Bytes(address) : Buffer.from(address.split('.').map(Number))
  const family = isIPv6(address) ? 2 : 1
  return Buffer.concat([Buffer.of(bytes.length + 1, family), bytes, Buffer.from('020000000100', 'hex')])
}

/** The 16 bytes of an IPv6 address without a zone. */
function ipv6Bytes(address: string): Buffer {
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groupsOf = (text: string): string[] => text.split(':').filter((group) => group !== '')
  const before = groupsOf(head)
  const after = groupsOf(tail)
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return words16(...[...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16)))
}

const macBytes = (mac: string): Buffer => Buffer.from(mac.replaceAll(':', ''), 'hex')

/** 16-bit numbers in the order of networks. */
function words16(...values: number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 2)
  values.forEach((value, index) => buffer.writeUInt16BE(value, index * 2))
  return buffer
}

const organizationTlv = (oui: string, subtype: number, value: Uint8Array): LldpTlv => [
  127,
  Buffer.concat([Buffer.from(oui, 'hex'), Buffer.of(subtype), value]),
]

/** The Ethernet frame of a switch port, with the TLV that ends it. */
export function lldpFrame(neighbour: AnnouncedNeighbour): Buffer {
  const source = neighbour.chassis.replaceAll(':', '')
  const end: LldpTlv = [0, Buffer.alloc(0)]
  return Buffer.concat([
    Buffer.from(`${LLDP_MULTICAST}${source}${LLDP_ETHERTYPE}`, 'hex'),
    ...[...lldpTlvs(neighbour), end].map(tlvBytes),
  ])
}

/** Seven bits of type, nine of length, the value. */
const tlvBytes = ([type, value]: LldpTlv): Buffer => Buffer.concat([words16((type << 9) | value.length), value])
