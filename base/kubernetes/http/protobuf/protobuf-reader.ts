/** A field as it stands on the wire: its number, and its contents by wire type. */
export interface ProtobufEntry {
  field: number
  /** An integer, or the bytes of a text, of bytes or of a message. */
  value: bigint | Uint8Array
}

/** Bytes that are no protobuf. The caller says where they came from. */
export class ProtobufProblem extends Error {
  override name = 'ProtobufProblem'
}

const VARINT = 0
const FIXED_64 = 1
const DELIMITED = 2
const FIXED_32 = 5

/** Bytes of the longest varint: 64 bits, seven a byte. */
const MAX_VARINT_BYTES = 10

/**
 * The fields of a message, in their order (protobuf's encoding, versions 2 and 3). Numbers of fixed width are skipped: no
 * kind that is read here has them.
 *
 * @throws ProtobufProblem
 */
export function* protobufEntries(bytes: Uint8Array): Generator<ProtobufEntry> {
  const reader = new ProtobufReader(bytes)
  while (!reader.isAtEnd) {
    const tag = reader.varint()
    const field = Number(tag >> 3n)
    if (field === 0) throw new ProtobufProblem('it has a field with the number 0')
    switch (Number(tag & 7n)) {
      case VARINT:
        yield { field, value: reader.varint() }
        break
      case DELIMITED:
        yield { field, value: reader.take(reader.varint()) }
        break
      case FIXED_64:
        reader.take(8n)
        break
      case FIXED_32:
        reader.take(4n)
        break
      default:
        throw new ProtobufProblem(`field ${field} has the unknown wire type ${tag & 7n}`)
    }
  }
}

class ProtobufReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  varint(): bigint {
    let value = 0n
    for (let count = 0; count < MAX_VARINT_BYTES; count++) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw new ProtobufProblem('it ends within a number')
      value |= BigInt(byte & 0x7f) << BigInt(7 * count)
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new ProtobufProblem('it has a number of more than 64 bits')
  }

  take(length: bigint): Uint8Array {
    if (length > BigInt(this.#bytes.length - this.#at))
      throw new ProtobufProblem(`it ends within a field of ${length} bytes`)
    const end = this.#at + Number(length)
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }
}
