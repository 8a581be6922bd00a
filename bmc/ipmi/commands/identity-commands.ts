import { systemUuid, type MachineSpec } from '../../../machine/index.js'

/** The GUID of a machine as IPMI has it: the UUID from its last byte to its first. */
export const guidOf = (spec: MachineSpec): Buffer => Buffer.from(systemUuid(spec).replaceAll('-', ''), 'hex').reverse()

/** IANA enterprise numbers of manufacturers. */
const MANUFACTURERS: readonly (readonly [name: RegExp, number: number])[] = [
  [/\bdell\b/i, 674],
  [/\bhpe\b|hewlett packard enterprise/i, 47196],
  [/\bhp\b|hewlett/i, 11],
  [/supermicro/i, 10876],
  [/lenovo/i, 19046],
  [/fujitsu/i, 10368],
  [/\bintel\b/i, 343],
  [/quanta/i, 7244],
  [/cisco/i, 5771],
]

/** IANA number of a manufacturer; 0 (unknown) if it is not in the table. */
export const manufacturerNumber = (manufacturer: string): number =>
  MANUFACTURERS.find(([name]) => name.test(manufacturer))?.[1] ?? 0
