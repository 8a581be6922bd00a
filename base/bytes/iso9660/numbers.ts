/** Bytes of a logical block. */
export const ISO_SECTOR_BYTES = 2048

/** Numbers that are written twice, the low byte first and the high byte first (ECMA-119 7.2.3, 7.3.3). */
export function both16(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt16LE(value, 0)
  bytes.writeUInt16BE(value, 2)
  return bytes
}

export function both32(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32LE(value, 0)
  bytes.writeUInt32BE(value, 4)
  return bytes
}

/** UCS-2 with the high byte first, as Joliet has it. */
export const ucs2 = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16()

/** Fills up with spaces, in bytes. */
export const padWithSpaces = (text: Buffer, length: number): Buffer =>
  Buffer.concat([text, Buffer.alloc(length, ' ')], length)

/** To the end of the block. */
export const wholeSectors = (bytes: Buffer): Buffer =>
  Buffer.concat([bytes], Math.max(1, Math.ceil(bytes.length / ISO_SECTOR_BYTES)) * ISO_SECTOR_BYTES)
