import { dialectOf } from '../../dialects/index.js'
import { suitesOf } from '../protocol/cipher-suites.js'
import { COMPLETION, IpmiCommandError } from '../protocol/completion.js'
import { PRIVILEGE } from '../protocol/privilege.js'
import { guidOf, manufacturerNumber } from './identity-commands.js'
import { littleEndian, NET_FN, type IpmiCall, type IpmiCommand } from './command.js'

/** The number of the LAN channel, and the one by which a caller names the channel it speaks on. */
export const LAN_CHANNEL = 1
const THIS_CHANNEL = 0x0e

/** @throws CommandFailed for an unknown channel */
export function checkChannel(byte: number): void {
  const channel = byte & 0x0f
  if (channel !== LAN_CHANNEL && channel !== THIS_CHANNEL) throw new IpmiCommandError(COMPLETION.invalidField)
}

function deviceId({ bmc: { machine } }: IpmiCall): number[] {
  const { spec, firmware } = machine
  const version = firmware.report().firmware.find(({ component }) => component === 'bmc')?.version ?? '0.0'
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const { deviceId: device, deviceRevision, manufacturerId, productId } = dialectOf(spec).ipmi
  const binaryCoded = ((Math.floor(minor / 10) % 10) << 4) | (minor % 10)
  return [
    device,
    deviceRevision,
    major & 0x7f,
    binaryCoded,
    0x02,
    // Chassis device, FRU inventory, SEL, SDR repository, sensors.
    0x8f,
    ...littleEndian(manufacturerId ?? manufacturerNumber(spec.manufacturer), 3),
    ...littleEndian(productId, 2),
    0,
    0,
    0,
    0,
  ]
}

function authenticationCapabilities({ data }: IpmiCall): number[] {
  checkChannel(data[0]!)
  const privilege = data[1]! & 0x0f
  if (privilege < PRIVILEGE.callback || privilege > PRIVILEGE.administrator)
    throw new IpmiCommandError(COMPLETION.invalidField)
  const asksFor20 = (data[0]! & 0x80) !== 0
  // No session of IPMI 1.5 can be opened. User names are not empty, packets are authenticated, there is no BMC key.
  return [LAN_CHANNEL, asksFor20 ? 0x80 : 0, 0x04, asksFor20 ? 0x02 : 0, 0, 0, 0, 0]
}

function cipherSuites({ bmc: { machine }, data }: IpmiCall): number[] {
  checkChannel(data[0]!)
  const suites = suitesOf(dialectOf(machine.spec).ipmi.cipherSuites)
  const bySuite = (data[2]! & 0x80) !== 0
  const records = bySuite
    ? suites.flatMap(({ id, authentication, integrity, confidentiality }) => [
        0xc0,
        id,
        authentication,
        0x40 | integrity,
        0x80 | confidentiality,
      ])
    : [
        ...new Set([
          ...suites.map(({ authentication }) => authentication),
          ...suites.map(({ integrity }) => 0x40 | integrity),
          ...suites.map(({ confidentiality }) => 0x80 | confidentiality),
        ]),
      ]
  const from = 16 * (data[2]! & 0x3f)
  return [LAN_CHANNEL, ...records.slice(from, from + 16)]
}

function channelInfo({ bmc: { sessions }, data }: IpmiCall): number[] {
  checkChannel(data[0]!)
  // IEEE 802.3, IPMB messages, many sessions; the vendor is the IPMI forum, 7154.
  return [LAN_CHANNEL, 0x04, 0x01, 0x80 | Math.min(sessions.list().length, 0x3f), ...littleEndian(7154, 3), 0, 0]
}

function channelAccess({ data }: IpmiCall): number[] {
  checkChannel(data[0]!)
  // Alerts are off; the channel is always available, up to administrators.
  return [0x22, PRIVILEGE.administrator]
}

/** Completion codes of sessions. */
const LEVEL_TOO_HIGH = 0x81
const NO_SUCH_SESSION = 0x87

function setPrivilege({ session, data }: IpmiCall): number[] {
  const level = data[0]! & 0x0f
  if (level > PRIVILEGE.administrator || level === PRIVILEGE.callback)
    throw new IpmiCommandError(COMPLETION.invalidField)
  if (level > session!.maximum) throw new IpmiCommandError(LEVEL_TOO_HIGH)
  if (level !== 0) session!.privilege = level
  return [session!.privilege]
}

function checkClosing({ bmc: { sessions }, session, data }: IpmiCall): void {
  const id = data.readUInt32LE(0)
  if (id !== session!.id && session!.privilege < PRIVILEGE.administrator)
    throw new IpmiCommandError(COMPLETION.insufficientPrivilege)
  if (!sessions.get(id)) throw new IpmiCommandError(NO_SUCH_SESSION)
}

function reset(warm: boolean): Pick<IpmiCommand, 'run' | 'after'> {
  return {
    run: ({ bmc: { machine } }) => machine.firmware.signal('bmc reset', { warm }),
    // A warm reset leaves sessions open.
    after: ({ bmc: { sessions, memory } }) => {
      if (warm) return
      sessions.closeAll()
      memory.forget()
    },
  }
}

export const APP_COMMANDS: readonly IpmiCommand[] = [
  {
    title: 'Get Device ID',
    netFn: NET_FN.app,
    command: 0x01,
    call: 'read manager',
    privilege: 'user',
    length: [0, 0],
    run: deviceId,
  },
  {
    title: 'Cold Reset',
    netFn: NET_FN.app,
    command: 0x02,
    call: 'reset bmc',
    privilege: 'administrator',
    length: [0, 0],
    ...reset(false),
  },
  {
    title: 'Warm Reset',
    netFn: NET_FN.app,
    command: 0x03,
    call: 'reset bmc',
    privilege: 'administrator',
    length: [0, 0],
    ...reset(true),
  },
  {
    title: 'Get Self Test Results',
    netFn: NET_FN.app,
    command: 0x04,
    call: 'read manager',
    privilege: 'user',
    length: [0, 0],
    run: () => [0x55, 0x00],
  },
  {
    title: 'Get ACPI Power State',
    netFn: NET_FN.app,
    command: 0x07,
    call: 'read power',
    privilege: 'user',
    length: [0, 0],
    // S0/G0 or S5/G2; the device is D0.
    run: ({ bmc: { machine } }) => [machine.power() === 'on' ? 0x00 : 0x05, 0x00],
  },
  {
    title: 'Get Device GUID',
    netFn: NET_FN.app,
    command: 0x08,
    call: 'read manager',
    privilege: 'user',
    length: [0, 0],
    run: ({ bmc: { machine } }) => guidOf(machine.spec),
  },
  {
    title: 'Get System GUID',
    netFn: NET_FN.app,
    command: 0x37,
    call: 'read manager',
    privilege: null,
    length: [0, 0],
    run: ({ bmc: { machine } }) => guidOf(machine.spec),
  },
  {
    title: 'Get Channel Authentication Capabilities',
    netFn: NET_FN.app,
    command: 0x38,
    call: 'read sessions',
    privilege: null,
    length: [2, 2],
    run: authenticationCapabilities,
  },
  {
    title: 'Set Session Privilege Level',
    netFn: NET_FN.app,
    command: 0x3b,
    call: 'read sessions',
    privilege: 'callback',
    length: [1, 1],
    run: setPrivilege,
  },
  {
    title: 'Close Session',
    netFn: NET_FN.app,
    command: 0x3c,
    call: 'read sessions',
    privilege: 'callback',
    length: [4, 5],
    run: checkClosing,
    // The answer is still sent within the session.
    after: ({ bmc: { sessions }, data }) => void sessions.close(data.readUInt32LE(0)),
  },
  {
    title: 'Get Channel Access',
    netFn: NET_FN.app,
    command: 0x41,
    call: 'read manager',
    privilege: 'user',
    length: [2, 2],
    run: channelAccess,
  },
  {
    title: 'Get Channel Info',
    netFn: NET_FN.app,
    command: 0x42,
    call: 'read manager',
    privilege: 'user',
    length: [1, 1],
    run: channelInfo,
  },
  {
    title: 'Get Channel Cipher Suites',
    netFn: NET_FN.app,
    command: 0x54,
    call: 'read sessions',
    privilege: null,
    length: [3, 3],
    run: cipherSuites,
  },
]
