import { qcow2Image, type Qcow2Options } from '../../../machine/making/qcow2-image.js'
import { changeField, damage, type Chance, type Field } from './chance.js'

const MIB = 2 ** 20

const HEADER: readonly Field[] = [
  ...[4, 16, 20, 32, 36, 56, 60, 96, 100].map((at) => ({ at, width: 4, big: true }) as const),
  ...[8, 24, 40, 48, 64, 72, 80, 88].map((at) => ({ at, width: 8, big: true }) as const),
]

/** A qcow2 image with a damaged header, tables that lead anywhere, or compressed clusters that are none. */
export function mutatedQcow2(raw: Buffer, by: Chance): Buffer {
  const options: Qcow2Options = {
    version: by.pick([2, 3]),
    clusterBits: by.pick([9, 12, 16, 16, 21]),
    compressed: by.below(2) === 0,
  }
  const image = qcow2Image(raw.subarray(0, by.pick([MIB, 3 * MIB])), options)
  const cluster = 2 ** options.clusterBits!
  for (let times = 1 + by.below(3); times > 0; times--)
    switch (by.below(7)) {
      case 0:
      case 1:
        changeField(image, by.pick(HEADER), by)
        break
      case 2: {
        // A size that fits the tables, and is huge.
        const tables = by.pick([1, 1024, 65536, 4 * MIB])
        image.writeUInt32BE(tables, 36)
        image.writeBigUInt64BE(BigInt(tables) * BigInt(cluster / 8) * BigInt(cluster), 24)
        break
      }
      case 3:
      case 4: {
        // The first table, the second ones.
        const entry = cluster * by.pick([1, 2, 2]) + 8 * by.below(Math.min(64, cluster / 8))
        if (by.below(3) > 0) changeField(image, { at: entry, width: 8, big: true }, by)
        else if (entry + 8 <= image.length)
          image.writeBigUInt64BE((1n << 62n) | BigInt(`0x${by.bytes(7).toString('hex')}`), entry)
        break
      }
      case 5:
        return damage(image, by, by.pick([104, 3 * 512, image.length]))
      default:
        return image.subarray(0, by.below(image.length))
    }
  return image
}
