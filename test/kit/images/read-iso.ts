/** Files of an ISO 9660 volume, by path. */
export interface IsoTree {
  label: string
  files: Map<string, Buffer>
}

const SECTOR = 2048

/**
 * Reads a volume as a kernel would: by Rock Ridge's names, or Joliet's. Written from the standards (ECMA-119, RRIP 1.09),
 * not from what writes it.
 */
export function readIso(image: Buffer, names: 'rock ridge' | 'joliet' = 'rock ridge'): IsoTree {
  const wanted = names === 'joliet' ? 2 : 1
  for (let sector = 16; ; sector++) {
    const descriptor = image.subarray(sector * SECTOR, (sector + 1) * SECTOR)
    if (descriptor.toString('latin1', 1, 6) !== 'CD001' || descriptor[0] === 255)
      throw new Error(`the volume has no tree of ${names}`)
    if (descriptor[0] !== wanted) continue
    if (descriptor.readUInt32LE(80) * SECTOR !== image.length) throw new Error('the volume is of another size')
    const files = new Map<string, Buffer>()
    collect(image, descriptor.subarray(156), '', names, files)
    return { label: text(descriptor.subarray(40, 72), names).trim(), files }
  }
}

function collect(image: Buffer, folder: Buffer, path: string, names: string, files: Map<string, Buffer>): void {
  const bytes = extent(image, folder)
  for (let at = 0; at < bytes.length;) {
    const length = bytes[at]!
    if (length === 0) {
      at = (Math.floor(at / SECTOR) + 1) * SECTOR
      continue
    }
    const record = bytes.subarray(at, at + length)
    at += length
    const identifier = record.subarray(33, 33 + record[32]!)
    if (identifier.length === 1 && identifier[0]! < 2) continue
    const name = names === 'joliet' ? text(identifier, names).replace(/;1$/, '') : rockRidgeName(record)
    const inner = path === '' ? name : `${path}/${name}`
    if ((record[25]! & 2) !== 0) collect(image, record, inner, names, files)
    else files.set(inner, extent(image, record))
  }
}

function extent(image: Buffer, record: Buffer): Buffer {
  const sector = record.readUInt32LE(2)
  const size = record.readUInt32LE(10)
  if (record.readUInt32BE(6) !== sector || record.readUInt32BE(14) !== size) throw new Error('the two orders differ')
  return image.subarray(sector * SECTOR, sector * SECTOR + size)
}

function rockRidgeName(record: Buffer): string {
  const length = record[32]!
  for (let at = 33 + length + (length % 2 === 0 ? 1 : 0); at + 4 <= record.length; at += record[at + 2]!)
    if (record.toString('latin1', at, at + 2) === 'NM') return record.toString('utf8', at + 5, at + record[at + 2]!)
  throw new Error('a record has no name of Rock Ridge')
}

const text = (bytes: Buffer, names: string): string =>
  names === 'joliet' ? Buffer.from(bytes).swap16().toString('utf16le') : bytes.toString('latin1')
