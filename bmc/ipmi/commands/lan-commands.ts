import { isIPv4 } from 'node:net'
import { dialectOf } from '../../dialects/index.js'
import { PRIVILEGE } from '../protocol/privilege.js'
import { fixedText, NET_FN, type CommandBmc, type IpmiCommand } from './command.js'
import { parameterReader, type Parameters } from './parameters.js'

const addressBytes = (address: string): number[] => (isIPv4(address) ? address.split('.').map(Number) : [0, 0, 0, 0])

/** A locally administered MAC address, made from the machine's first NIC. */
function bmcMacOf({ machine: { spec } }: CommandBmc): number[] {
  const [first = 0, ...rest] = (spec.nics[0]?.mac ?? '52:54:00:00:00:00').split(':').map((each) => parseInt(each, 16))
  return [(first | 0x02) ^ 0x08, ...rest]
}

/** Numbers of the cipher suites that a BMC offers. */
const suitesIn = ({ machine }: CommandBmc): readonly number[] => dialectOf(machine.spec).ipmi.cipherSuites

/** The parameters of the LAN configuration that there are; IPMI 2.0, table 23-4. */
const PARAMETERS: Parameters = {
  // Set complete.
  0: () => [0],
  // No authentication of IPMI 1.5, for no privilege.
  1: () => [0],
  2: () => [0, 0, 0, 0, 0],
  3: ({ address }) => addressBytes(address.host),
  // A static address.
  4: () => [0x01],
  5: bmcMacOf,
  6: ({ address }) => (address.host.startsWith('127.') ? [255, 0, 0, 0] : [255, 255, 255, 0]),
  8: ({ address }) => [address.port & 0xff, address.port >> 8],
  12: () => [0, 0, 0, 0],
  13: () => [0, 0, 0, 0, 0, 0],
  14: () => [0, 0, 0, 0],
  15: () => [0, 0, 0, 0, 0, 0],
  16: () => fixedText('public', 18),
  // No VLAN.
  20: () => [0, 0],
  21: () => [0],
  22: (bmc) => [suitesIn(bmc).length],
  23: (bmc) => [0, ...suitesIn(bmc), ...Array.from({ length: 16 - suitesIn(bmc).length }, () => 0)],
  24: (bmc) => [0, ...privileges(suitesIn(bmc).length)],
}

/** The highest level of each of so many suites, two in a byte. */
function privileges(suites: number): number[] {
  const levels = Array.from({ length: 16 }, (_, index) => (index < suites ? PRIVILEGE.administrator : 0))
  return Array.from({ length: 8 }, (_, index) => levels[2 * index]! | (levels[2 * index + 1]! << 4))
}

export const LAN_COMMANDS: readonly IpmiCommand[] = [
  {
    title: 'Get LAN Configuration Parameters',
    netFn: NET_FN.transport,
    command: 0x02,
    call: 'read manager',
    privilege: 'operator',
    length: [4, 4],
    run: parameterReader(PARAMETERS),
  },
]
