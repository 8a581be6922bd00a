import { COMPLETION, IpmiCommandError } from '../protocol/completion.js'
import { PAYLOAD } from '../protocol/packet.js'
import { PRIVILEGE } from '../protocol/privilege.js'
import { MAX_SOL_CHARACTERS, SOL_RETRIES, SOL_RETRY_INTERVAL } from '../sol/serial-console.js'
import { checkChannel, LAN_CHANNEL } from './app-commands.js'
import { littleEndian, NET_FN, type IpmiCall, type IpmiCommand } from './command.js'
import { parameterReader, type Parameters } from './parameters.js'

/** The only instance of the serial console. */
const INSTANCE = 1

/** Completion codes of payloads. */
const ACTIVE_ELSEWHERE = 0x80
const NOT_ACTIVE = 0x80
const NEEDS_ENCRYPTION = 0x84

/** @throws CommandFailed for another payload than the serial console, and for another instance */
function checkPayload(data: Buffer, instance = data[1]! & 0x0f): void {
  if ((data[0]! & 0x3f) !== PAYLOAD.sol || instance !== INSTANCE) throw new IpmiCommandError(COMPLETION.invalidField)
}

function activate({ bmc, session, data }: IpmiCall): number[] {
  checkPayload(data)
  if (bmc.console.session) throw new IpmiCommandError(ACTIVE_ELSEWHERE)
  // Packets without encryption and authentication are refused in a session that has both.
  if ((data[2]! & 0xc0) !== 0xc0) throw new IpmiCommandError(NEEDS_ENCRYPTION)
  bmc.console.activate(session!)
  const noVlan = 0xffff
  return [
    0,
    0,
    0,
    0,
    ...littleEndian(MAX_SOL_CHARACTERS, 2),
    ...littleEndian(MAX_SOL_CHARACTERS, 2),
    ...littleEndian(bmc.address.port, 2),
    ...littleEndian(noVlan, 2),
  ]
}

function deactivate({ bmc, data }: IpmiCall): void {
  checkPayload(data)
  if (!bmc.console.session) throw new IpmiCommandError(NOT_ACTIVE)
  bmc.console.deactivate()
}

function readSolStatus({ bmc, data }: IpmiCall): number[] {
  checkPayload(data, INSTANCE)
  return [INSTANCE, bmc.console.session ? 1 : 0, 0]
}

function instance({ bmc, data }: IpmiCall): number[] {
  checkPayload(data)
  const port = 1
  return [...littleEndian(bmc.console.session?.id ?? 0, 4), port, 0, 0, 0, 0, 0, 0, 0]
}

const BAUD_115200 = 0x0a

/** The parameters of the SOL configuration; IPMI 2.0, table 26-5. */
const PARAMETERS: Parameters = {
  0: () => [0],
  1: () => [1],
  // Encrypted and authenticated, for operators.
  2: () => [0xc0 | PRIVILEGE.operator],
  // In steps of 5 ms; the number of characters after which a packet is sent.
  3: () => [1, 1],
  4: () => [SOL_RETRIES, SOL_RETRY_INTERVAL / 10],
  5: () => [BAUD_115200],
  6: () => [BAUD_115200],
  7: () => [LAN_CHANNEL],
  8: ({ address }) => littleEndian(address.port, 2),
}

/** Serial over LAN: the machine's console. */
export const SOL_COMMANDS: readonly IpmiCommand[] = [
  {
    title: 'Activate Payload',
    netFn: NET_FN.app,
    command: 0x48,
    call: 'read console',
    privilege: 'operator',
    length: [6, 6],
    run: activate,
  },
  {
    title: 'Deactivate Payload',
    netFn: NET_FN.app,
    command: 0x49,
    call: 'read console',
    privilege: 'operator',
    length: [6, 6],
    run: deactivate,
  },
  {
    title: 'Get Payload Activation Status',
    netFn: NET_FN.app,
    command: 0x4a,
    call: 'read console',
    privilege: 'user',
    length: [1, 1],
    run: readSolStatus,
  },
  {
    title: 'Get Payload Instance Info',
    netFn: NET_FN.app,
    command: 0x4b,
    call: 'read console',
    privilege: 'user',
    length: [2, 2],
    run: instance,
  },
  {
    title: 'Get User Payload Access',
    netFn: NET_FN.app,
    command: 0x4d,
    call: 'read accounts',
    privilege: 'operator',
    length: [2, 2],
    // The serial console.
    run: ({ data }) => (checkChannel(data[0]!), [0x02, 0, 0, 0]),
  },
  {
    title: 'Get Channel Payload Support',
    netFn: NET_FN.app,
    command: 0x4e,
    call: 'read manager',
    privilege: 'user',
    length: [1, 1],
    // IPMI messages, the serial console, and the messages that open a session.
    run: ({ data }) => (checkChannel(data[0]!), [0x03, 0, 0x3f, 0, 0, 0, 0, 0]),
  },
  {
    title: 'Get SOL Configuration Parameters',
    netFn: NET_FN.transport,
    command: 0x22,
    call: 'read manager',
    privilege: 'operator',
    length: [4, 4],
    run: parameterReader(PARAMETERS),
  },
]
