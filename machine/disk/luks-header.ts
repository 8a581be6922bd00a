/** Where the contents of an encrypted partition begin, as cryptsetup places them. */
export const LUKS_DATA_OFFSET = 16 * 2 ** 20

const LUKS_MAGIC = Buffer.from([0x4c, 0x55, 0x4b, 0x53, 0xba, 0xbe])
const UUID_FIELD = { at: 168, length: 40 } as const

/** The beginning of a LUKS2 header: what tools recognise it by. Its contents are not encrypted in a simulated machine. */
export function luksHeader(uuid: string): Buffer {
  const header = Buffer.alloc(4096)
  LUKS_MAGIC.copy(header)
  header.writeUInt16BE(2, 6)
  header.writeBigUInt64BE(16384n, 8)
  header.writeBigUInt64BE(3n, 16)
  header.write('sha256', 72)
  header.write(uuid, UUID_FIELD.at, UUID_FIELD.length)
  return header
}

/** The UUID of a LUKS header; undefined for anything else. */
export function luksUuid(start: Buffer): string | undefined {
  if (!start.subarray(0, LUKS_MAGIC.length).equals(LUKS_MAGIC)) return undefined
  return start.toString('latin1', UUID_FIELD.at, UUID_FIELD.at + UUID_FIELD.length).replace(/\0.*$/s, '')
}
