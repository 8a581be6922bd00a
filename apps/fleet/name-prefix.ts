import type { MachineSpec } from '../../machine/index.js'
import { sha256Hex } from '../../base/bytes/index.js'
import { uuidOf } from '../../base/runtime/index.js'

/** Beginning of the names of counted machines where no other is named: `machine-1`. */
export const DEFAULT_NAME_PREFIX = 'machine-'

/**
 * Identity of a counted machine of a prefix. Two fleets with prefixes of their own so have no name, serial number, UUID,
 * MAC address or WWN in common, and a fleet that starts again has the same as before. Undefined for the default prefix.
 */
export function identityOfPrefix(prefix: string, number: number) {
  if (prefix === DEFAULT_NAME_PREFIX) return undefined
  const id = `${prefix}${number}`
  const block = sha256Hex(prefix).slice(0, 6)
  return { uuid: uuidOf(id), applied: (plain: MachineSpec) => inBlock({ ...plain, id }, block) }
}

/** Gives a machine the serial numbers and addresses of a block, six hexadecimal digits. */
function inBlock(plain: MachineSpec, block: string): MachineSpec {
  const withBlock = (serial: string): string => serial.replace(/[0-9A-F]{6}(?=.?$)/, (own) => block.toUpperCase() + own)
  return {
    ...plain,
    bmc: { ...plain.bmc!, systemId: plain.id },
    serial: withBlock(plain.serial),
    nics: plain.nics.map((nic) => ({ ...nic, mac: macInBlock(nic.mac, block) })),
    disks: plain.disks.map((disk) => ({
      ...disk,
      serial: withBlock(disk.serial),
      // NAA 3, locally assigned, has sixty bits for it (SPC-4).
      wwn: `0x3${block}0${disk.wwn.slice(-8)}`,
    })),
  }
}

/** A locally administered address. The third byte tells the NICs of a machine apart, and the last three tell machines apart. */
function macInBlock(mac: string, block: string): string {
  const [first, second, third] = Buffer.from(block, 'hex')
  const own = Buffer.from(mac.replaceAll(':', ''), 'hex')
  own[0] = (first! & 0xfc) | 0x02
  own[1] = second!
  own[3]! ^= third!
  return [...own].map((byte) => byte.toString(16).padStart(2, '0')).join(':')
}
