/** A packet of a caller's serial console; IPMI 2.0, table 15-2. */
export interface SolPacket {
  /** 0 for a packet that only acknowledges. */
  readonly sequence: number
  /** The packet that is acknowledged; 0 for none. */
  readonly acknowledged: number
  /** Number of accepted characters of the packet. */
  readonly accepted: number
  readonly isNack: boolean
  /** Number of characters that the packet has. */
  readonly characters: number
}

const SOL_HEADER_BYTES = 4
const NACK = 0x40

export function readSol(payload: Buffer): SolPacket | undefined {
  if (payload.length < SOL_HEADER_BYTES) return undefined
  return {
    sequence: payload[0]! & 0x0f,
    acknowledged: payload[1]! & 0x0f,
    accepted: payload[2]!,
    isNack: (payload[3]! & NACK) !== 0,
    characters: payload.length - SOL_HEADER_BYTES,
  }
}

export function solPacket({
  sequence,
  acknowledged,
  accepted,
  data = Buffer.alloc(0),
}: {
  sequence: number
  acknowledged: number
  accepted: number
  data?: Buffer
}): Buffer {
  return Buffer.concat([Buffer.from([sequence, acknowledged, accepted & 0xff, 0]), data])
}
