/** Classes of RMCP messages; DSP0136, table 'RMCP Class'. */
export const RMCP_ASF = 0x06
export const RMCP_IPMI = 0x07

const RMCP_VERSION = 0x06
/** The sequence number of a message that asks for no acknowledgement; IPMI uses no other. */
const NO_ACKNOWLEDGEMENT = 0xff
const RMCP_HEADER_BYTES = 4

/** Contents of an RMCP datagram. */
export interface RmcpMessage {
  readonly messageClass: number
  readonly data: Buffer
}

/** Reads an RMCP datagram; undefined for what is none, and for acknowledgements. */
export function readRmcp(datagram: Buffer): RmcpMessage | undefined {
  if (datagram.length < RMCP_HEADER_BYTES || datagram[0] !== RMCP_VERSION) return undefined
  return { messageClass: datagram[3]!, data: datagram.subarray(RMCP_HEADER_BYTES) }
}

export const rmcpDatagram = (messageClass: number, ...data: readonly Buffer[]): Buffer =>
  Buffer.concat([Buffer.from([RMCP_VERSION, 0, NO_ACKNOWLEDGEMENT, messageClass]), ...data])

/** IANA number of the ASF, in ASF messages. */
const ASF = 4542
const PING = 0x80
const PONG = 0x40
const ASF_HEADER = 8

/** The answer to an ASF presence ping; undefined for other ASF messages. */
export function pongTo(data: Buffer): Buffer | undefined {
  if (data.length < ASF_HEADER || data.readUInt32BE(0) !== ASF || data[4] !== PING) return undefined
  const pong = Buffer.alloc(ASF_HEADER + 16)
  pong.writeUInt32BE(ASF, 0)
  pong[4] = PONG
  pong[5] = data[5]!
  pong[7] = 16
  pong.writeUInt32BE(ASF, 8)
  // IPMI is supported, ASF version 1.0.
  pong[16] = 0x81
  return rmcpDatagram(RMCP_ASF, pong)
}
