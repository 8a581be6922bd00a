import { dialectOf } from '../../dialects/index.js'
import type { MachineSpec } from '../../../machine/index.js'
import { COMPLETION, IpmiCommandError } from '../protocol/completion.js'
import { littleEndian, NET_FN, type IpmiCall, type IpmiCommand } from './command.js'

const ROUND = 8
const END_OF_FIELDS = 0xc1

/** A field of Latin-1 text. One of a single byte would be read as the end of the fields. */
function encodeFruField(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1').subarray(0, 63)
  const longer = bytes.length === 1 ? Buffer.from([...bytes, 0x20]) : bytes
  return Buffer.from([0xc0 | longer.length, ...longer])
}

const withChecksum = (bytes: Buffer): Buffer => {
  bytes[bytes.length - 1] = -bytes.reduce((sum, byte) => sum + byte, 0) & 0xff
  return bytes
}

/** An area: version, length in eights, what stands before the fields, the fields, a checksum. */
function area(before: readonly number[], fields: readonly string[]): Buffer {
  const content = Buffer.concat([
    Buffer.from([1, 0, ...before]),
    ...fields.map(encodeFruField),
    Buffer.from([END_OF_FIELDS]),
  ])
  const bytes = Buffer.concat([content], Math.ceil((content.length + 1) / ROUND) * ROUND)
  bytes[1] = bytes.length / ROUND
  return withChecksum(bytes)
}

const RACK_MOUNT = 0x17
const ENGLISH = 0
/** The board was made at an unspecified time. */
const UNSPECIFIED = [0, 0, 0]

/** FRU information of a machine, by the Platform Management FRU Information Storage Definition 1.0. */
function fruOf(spec: MachineSpec): Buffer {
  const { manufacturer, product, serial } = spec
  const { chassisPart, boardProduct, boardPart, boardSerial, productPart } = dialectOf(spec).ipmi.fru
  const own = boardSerial === 'own' ? `MB-${serial}` : serial
  const chassis = area([RACK_MOUNT], [chassisPart ?? '', serial])
  const board = area([ENGLISH, ...UNSPECIFIED], [manufacturer, boardProduct ?? product, own, boardPart ?? '', ''])
  const unit = area([ENGLISH], [manufacturer, product, productPart ?? '', '', serial, '', ''])
  const at = [ROUND, ROUND + chassis.length, ROUND + chassis.length + board.length].map((each) => each / ROUND)
  const header = withChecksum(Buffer.from([1, 0, ...at, 0, 0, 0]))
  return Buffer.concat([header, chassis, board, unit])
}

function readFruContents({ bmc, data }: IpmiCall): Buffer {
  if (data[0] !== 0) throw new IpmiCommandError(COMPLETION.notPresent)
  return fruOf(bmc.machine.spec)
}

function readFru(call: IpmiCall): number[] {
  const bytes = readFruContents(call)
  const offset = call.data.readUInt16LE(1)
  if (offset >= bytes.length) throw new IpmiCommandError(COMPLETION.outOfRange)
  const part = bytes.subarray(offset, offset + call.data[3]!)
  return [part.length, ...part]
}

export const FRU_COMMANDS: readonly IpmiCommand[] = [
  {
    title: 'Get FRU Inventory Area Info',
    netFn: NET_FN.storage,
    command: 0x10,
    call: 'read hardware',
    privilege: 'user',
    length: [1, 1],
    // Read by bytes, not by words.
    run: (call) => [...littleEndian(readFruContents(call).length, 2), 0],
  },
  {
    title: 'Read FRU Data',
    netFn: NET_FN.storage,
    command: 0x11,
    call: 'read hardware',
    privilege: 'user',
    length: [4, 4],
    run: readFru,
  },
]
