import type { MachineSpec } from '../../machine/index.js'
import { seededRandom, UserError, randomUuid } from '../../base/runtime/index.js'

/** Values by which a machine and its node differ from others. */
export interface MachineIdentity {
  readonly uuid: string
  /** The default machine with serial numbers, MAC addresses and WWNs of its own. */
  readonly applied: (plain: MachineSpec) => MachineSpec
}

/**
 * Identities that come from a seed alone, in the order of calls.
 *
 * @param isTaken whether a MAC address is of another machine
 */
export function makeIdentities(seed: number, isTaken: (mac: string) => boolean): () => MachineIdentity {
  const random = seededRandom(seed)
  const used = new Set<string>()
  /** An even address: the next one is that of the second NIC. */
  const freeMac = (): number[] => {
    for (;;) {
      const bytes = [0x52, 0x54, 0x00, ...random.bytes(3)]
      bytes[5]! &= 0xfe
      const mac = formatMac(bytes)
      if (used.has(mac) || isTaken(mac)) continue
      used.add(mac)
      return bytes
    }
  }
  return () => {
    const own = randomUuid(random)
    const mac = freeMac()
    const serial = hexOf(random.bytes(3)).toUpperCase()
    const block = hexOf(random.bytes(3))
    const last = random.bytes(1)[0]! & 0xf0
    return {
      uuid: own,
      applied: (plain) => ({
        ...plain,
        serial: `IST-${serial}`,
        nics: plain.nics.map((nic, index) => ({ ...nic, mac: formatMac([...mac.slice(0, 5), mac[5]! + index]) })),
        disks: plain.disks.map((disk, index) => ({
          ...disk,
          serial: disk.serial.replace(/[0-9A-F]{6}(?=.$)/, serial),
          wwn: `0x5000c500${block}${hexOf([last + index])}`,
        })),
      }),
    }
  }
}

const hexOf = (bytes: Iterable<number>): string => Buffer.from([...bytes]).toString('hex')

const formatMac = (bytes: readonly number[]): string => bytes.map((byte) => hexOf([byte])).join(':')

export const seedIsUsed = (seed: number, uuid: string): UserError =>
  new UserError('bad-request', `seed ${seed} gives node ${uuid}, which is there already`, {
    kind: 'usage',
    remedy: 'name another seed, or remove the nodes of this one first',
  })
