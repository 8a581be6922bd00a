import { deflateRawSync } from 'node:zlib'

export interface Qcow2Options {
  version?: 2 | 3
  clusterBits?: number
  /** Packs clusters one after another without padding, as qemu-img does with -c. */
  compressed?: boolean
  /** Changes the finished header. */
  header?: (header: Buffer) => void
}

/** A qcow2 image with these contents, by QEMU's description of the format; clusters of zeros are left out. */
export function qcow2Image(contents: Buffer, options: Qcow2Options = {}): Buffer {
  const { version = 3, clusterBits = 16, compressed = false } = options
  const cluster = 2 ** clusterBits
  const perTable = cluster / 8
  const count = Math.ceil(contents.length / cluster)
  const tables = Math.ceil(count / perTable)
  const l1Clusters = Math.ceil((tables * 8) / cluster)
  const header = Buffer.alloc(cluster)
  header.writeUInt32BE(0x514649fb, 0)
  header.writeUInt32BE(version, 4)
  header.writeUInt32BE(clusterBits, 20)
  header.writeBigUInt64BE(BigInt(contents.length), 24)
  header.writeUInt32BE(tables, 36)
  header.writeBigUInt64BE(BigInt(cluster), 40)
  if (version === 3) header.writeUInt32BE(104, 100)
  options.header?.(header)

  const l1 = Buffer.alloc(l1Clusters * cluster)
  const l2 = Buffer.alloc(tables * cluster)
  const dataStart = (1 + l1Clusters + tables) * cluster
  const data: Buffer[] = []
  let length = 0
  const used = new Set<number>()
  const zeros = Buffer.alloc(cluster)
  for (let index = 0; index < count; index++) {
    const bytes = Buffer.alloc(cluster)
    contents.copy(bytes, 0, index * cluster)
    if (bytes.equals(zeros)) continue
    used.add(Math.floor(index / perTable))
    const packed = compressed ? deflateRawSync(bytes, { windowBits: 12 }) : undefined
    const offset = dataStart + length
    if (packed && packed.length < cluster) {
      const shift = BigInt(62 - (clusterBits - 8))
      const sectors = Math.floor((offset + packed.length - 1) / 512) - Math.floor(offset / 512)
      l2.writeBigUInt64BE((1n << 62n) | (BigInt(sectors) << shift) | BigInt(offset), index * 8)
      data.push(packed)
      length += packed.length
      continue
    }
    const padding = (cluster - (length % cluster)) % cluster
    data.push(Buffer.alloc(padding), bytes)
    l2.writeBigUInt64BE((1n << 63n) | BigInt(offset + padding), index * 8)
    length += padding + cluster
  }
  for (const table of used) l1.writeBigUInt64BE((1n << 63n) | BigInt((1 + l1Clusters + table) * cluster), table * 8)
  return Buffer.concat([header, l1, l2, ...data])
}
