/** An IPMI request; IPMI 2.0, 13.8 'IPMI LAN Message Format'. */
export interface IpmiRequest {
  /** Even: the response has the number after it. */
  readonly netFn: number
  readonly command: number
  readonly data: Buffer
  /** Address and LUN of the caller, its sequence number, and the LUN it speaks to: the response has them again. */
  readonly caller: number
  readonly callerLun: number
  readonly sequence: number
  readonly lun: number
}

/** Address of the BMC. */
const BMC_ADDRESS = 0x20
const MIN_MESSAGE_LENGTH = 7

const checksum = (bytes: Buffer): number => -bytes.reduce((sum, byte) => sum + byte, 0) & 0xff

/** Reads a request to a BMC; undefined for a damaged message, a response, and one to another address. */
export function readRequest(message: Buffer): IpmiRequest | undefined {
  if (message.length < MIN_MESSAGE_LENGTH || message[0] !== BMC_ADDRESS) return undefined
  const end = message.length - 1
  if (checksum(message.subarray(0, 2)) !== message[2] || checksum(message.subarray(3, end)) !== message[end])
    return undefined
  const netFn = message[1]! >> 2
  // Answering a response could make two BMCs answer one another for ever.
  if (netFn % 2 === 1) return undefined
  return {
    netFn,
    lun: message[1]! & 3,
    caller: message[3]!,
    sequence: message[4]! >> 2,
    callerLun: message[4]! & 3,
    command: message[5]!,
    data: message.subarray(6, end),
  }
}

/** Address of a program that calls a BMC over the LAN. */
const CALLER_ADDRESS = 0x81

/** @param sequence 0 to 63 */
export function requestMessage(
  netFn: number,
  command: number,
  { data = [], lun = 0, sequence = 1 }: { data?: Iterable<number>; lun?: number; sequence?: number } = {},
): Buffer {
  const head = Buffer.from([BMC_ADDRESS, (netFn << 2) | lun])
  const body = Buffer.from([CALLER_ADDRESS, sequence << 2, command, ...data])
  return Buffer.concat([head, Buffer.from([checksum(head)]), body, Buffer.from([checksum(body)])])
}

/** A response: the sequence number and command of its request, its completion code and its data. */
export interface IpmiResponse {
  readonly sequence: number
  readonly command: number
  readonly completion: number
  readonly data: Buffer
}

const MIN_RESPONSE_LENGTH = 8

/** Reads a response; undefined for a damaged message. */
export function readResponse(message: Buffer): IpmiResponse | undefined {
  const end = message.length - 1
  if (message.length < MIN_RESPONSE_LENGTH || checksum(message.subarray(3, end)) !== message[end]) return undefined
  return {
    sequence: message[4]! >> 2,
    command: message[5]!,
    completion: message[6]!,
    data: Buffer.from(message.subarray(7, end)),
  }
}

export function responseTo(request: IpmiRequest, completion: number, data: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.from([request.caller, ((request.netFn + 1) << 2) | request.callerLun])
  const body = Buffer.from([BMC_ADDRESS, (request.sequence << 2) | request.lun, request.command, completion, ...data])
  return Buffer.concat([head, Buffer.from([checksum(head)]), body, Buffer.from([checksum(body)])])
}
