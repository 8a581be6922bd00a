import type { JsonObject } from '../ironic/node.js'
import { MAU_TYPES, pmdCapabilities } from './mac-phy.js'

/** Type and value in hexadecimal, as the agent collects them. */
export type CollectedTlv = readonly [type: number, value: string]

const DOT1 = '0080c2'
const DOT3 = '00120f'
const LLDP_CAPABILITIES = [
  'Repeater',
  'Bridge',
  'WLAN',
  'Router',
  'Telephone',
  'DOCSIS cable device',
  'Station only',
  'C-Vlan',
  'S-Vlan',
  'TPMR',
]

/**
 * Parses a switch's TLVs into Ironic's names (IEEE 802.1AB, 802.1Q, 802.3), as its inspection hook `parse-lldp` does
 * (ironic 39.0.0 drivers/modules/inspector/lldp_parsers.py).
 */
export function parseLldp(tlvs: readonly CollectedTlv[]): JsonObject {
  const found: JsonObject = {}
  for (const [type, hex] of tlvs) {
    const data = Buffer.from(hex, 'hex')
    if (data.length * 2 !== hex.length) continue
    try {
      readLldpTlv(found, type, data)
    } catch (error) {
      // Skips a truncated or garbled TLV; the others are still useful.
      if (!(error instanceof RangeError || error instanceof TypeError)) throw error
    }
  }
  return found
}

function readLldpTlv(found: JsonObject, type: number, data: Buffer): void {
  switch (type) {
    case 1:
      return once(found, 'switch_chassis_id', decodeLldpId(data, CHASSIS_SUBTYPES))
    case 2:
      return once(found, 'switch_port_id', decodeLldpId(data, PORT_SUBTYPES))
    case 4:
      return once(found, 'switch_port_description', utf8Text(data))
    case 5:
      return once(found, 'switch_system_name', utf8Text(data))
    case 6:
      return once(found, 'switch_system_description', utf8Text(data))
    case 7:
      if (data.length !== 4) return
      once(found, 'switch_capabilities_support', capabilities(data.readUInt16BE(0)))
      return once(found, 'switch_capabilities_enabled', capabilities(data.readUInt16BE(2)))
    case 8:
      return append(found, 'switch_mgmt_addresses', decodeLldpAddress(data.subarray(1)))
    case 127:
      return readOrganization(found, data.subarray(0, 3).toString('hex'), data.readUInt8(3), data.subarray(4))
    default:
  }
}

function readOrganization(found: JsonObject, oui: string, subtype: number, data: Buffer): void {
  if (oui === DOT1) return readDot1(found, subtype, data)
  if (oui !== DOT3) return
  if (subtype === 3) linkAggregation(found, data)
  if (subtype === 4) once(found, 'switch_port_mtu', data.readUInt16BE(0))
  if (subtype === 1 && data.length === 5) readMacPhy(found, data)
}

function readMacPhy(found: JsonObject, data: Buffer): void {
  const mauType = MAU_TYPES[data.readUInt16BE(3)]
  // Ironic drops the whole TLV of a type that it does not know.
  if (mauType === undefined) return
  once(found, 'switch_port_autonegotiation_enabled', Boolean(data[0]! & 2))
  once(found, 'switch_port_autonegotiation_support', Boolean(data[0]! & 1))
  once(found, 'switch_port_physical_capabilities', pmdCapabilities(data.readUInt16BE(1)))
  once(found, 'switch_port_mau_type', mauType)
}

function readDot1(found: JsonObject, subtype: number, data: Buffer): void {
  switch (subtype) {
    case 1:
      return once(found, 'switch_port_untagged_vlan_id', data.readUInt16BE(0))
    case 2:
      if (data.length !== 3) return
      once(found, 'switch_port_protocol_vlan_enabled', Boolean(data[0]! & 4))
      once(found, 'switch_port_protocol_vlan_support', Boolean(data[0]! & 2))
      return append(found, 'switch_port_protocol_vlan_ids', data.readUInt16BE(1))
    case 3:
      return append(found, 'switch_port_vlans', {
        name: utf8Text(bytesOf(data, 3, data.readUInt8(2))).replace(/\0+$/, ''),
        id: data.readUInt16BE(0),
      })
    case 4:
      return append(found, 'switch_protocol_identities', bytesOf(data, 1, data.readUInt8(0)).toString('hex'))
    case 6:
      return once(found, 'switch_port_management_vlan_id', data.readUInt16BE(0))
    case 7:
      return linkAggregation(found, data)
    default:
  }
}

function linkAggregation(found: JsonObject, data: Buffer): void {
  if (data.length !== 5) return
  once(found, 'switch_port_link_aggregation_enabled', Boolean(data[0]! & 2))
  once(found, 'switch_port_link_aggregation_support', Boolean(data[0]! & 1))
  once(found, 'switch_port_link_aggregation_id', data.readUInt32BE(1))
}

/** Sets a name once: the first TLV wins. */
function once(found: JsonObject, name: string, value: unknown): void {
  if (value !== undefined && !(name in found)) found[name] = value
}

function append(found: JsonObject, name: string, value: unknown): void {
  if (value !== undefined) found[name] = [...((found[name] ?? []) as unknown[]), value]
}

/** Form of an id by its subtype; ids of other subtypes are not read. */
type IdSubtypes = Readonly<Record<number, 'text' | 'mac' | 'address'>>
const CHASSIS_SUBTYPES: IdSubtypes = { 1: 'text', 2: 'text', 3: 'text', 4: 'mac', 5: 'address', 6: 'text', 7: 'text' }
const PORT_SUBTYPES: IdSubtypes = { 1: 'text', 2: 'text', 3: 'mac', 4: 'address', 5: 'text', 7: 'text' }

function decodeLldpId(data: Buffer, subtypes: IdSubtypes): string | undefined {
  const rest = data.subarray(1)
  switch (subtypes[data.readUInt8(0)]) {
    case 'mac':
      return macText(rest)
    case 'address':
      return decodeLldpAddress(rest)
    case 'text':
      return utf8Text(rest)
    default:
      return undefined
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws TypeError for bytes that are not UTF-8 */
const utf8Text = (data: Buffer): string => utf8.decode(data)

/** @throws RangeError when there are fewer */
function bytesOf(data: Buffer, start: number, length: number): Buffer {
  if (start + length > data.length) throw new RangeError('the value is cut off')
  return data.subarray(start, start + length)
}

const macText = (data: Buffer): string | undefined =>
  data.length < 6 ? undefined : [...data.subarray(0, 6)].map((byte) => byte.toString(16).padStart(2, '0')).join(':')

/** An address after its family, by IANA's numbers. */
function decodeLldpAddress(data: Buffer): string | undefined {
  const rest = data.subarray(1)
  switch (data.readUInt8(0)) {
    case 1:
      return rest.length < 4 ? undefined : [...rest.subarray(0, 4)].join('.')
    case 2:
      return rest.length < 16 ? undefined : formatIpv6(rest)
    case 6:
      return macText(rest)
    default:
      return undefined
  }
}

function formatIpv6(data: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, at) => data.readUInt16BE(at * 2).toString(16))
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

const capabilities = (bits: number): string[] => LLDP_CAPABILITIES.filter((_, at) => bits & (1 << (at + 1)))

/** Switch port as `local_link_connection` of a port names it; a switch is identified by a MAC address only. */
export function switchPortOf(tlvs: readonly CollectedTlv[] | undefined): JsonObject {
  if (!tlvs) return {}
  const parsed = parseLldp(tlvs)
  const chassis = tlvs.find(([type]) => type === 1)?.[1].startsWith('04')
  const link: JsonObject = {}
  if (parsed.switch_port_id !== undefined) link.port_id = parsed.switch_port_id
  if (chassis && parsed.switch_chassis_id !== undefined) link.switch_id = parsed.switch_chassis_id
  if (parsed.switch_system_name !== undefined) link.switch_info = parsed.switch_system_name
  return link
}
