import { seededRandom } from '../../../base/runtime/index.js'

/** Choices of one mutation, the same for the same seed. */
export interface Chance {
  /** From 0, below `limit`. */
  below(limit: number): number
  pick<T>(choices: readonly T[]): T
  bytes(length: number): Buffer
}

export function chance(seed: number): Chance {
  const random = seededRandom(seed)
  const below = (limit: number) => Math.floor((Buffer.from(random.bytes(6)).readUIntLE(0, 6) / 2 ** 48) * limit)
  return {
    below,
    pick: (choices) => choices[below(choices.length)]!,
    bytes: (length) => Buffer.from(random.bytes(length)),
  }
}

/** Numbers at which readers go wrong. */
const EDGES = [0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff].map(BigInt)
const WIDE_EDGES = [...EDGES, 0x20000000000000n, 0x7fffffffffffffffn, 0x8000000000000000n, 0xffffffffffffffffn]

/** A number field of an image. */
export interface Field {
  at: number
  /** In bytes. */
  width: 1 | 2 | 4 | 8
  big?: boolean
}

/** Gives a field an extreme, a neighbouring or a random value. */
export function changeField(image: Buffer, { at, width, big = false }: Field, by: Chance): void {
  if (at + width > image.length) return
  const bytes = image.subarray(at, at + width)
  const old = BigInt(`0x${(big ? bytes : Buffer.from(bytes).reverse()).toString('hex')}`)
  const edges = width === 8 ? WIDE_EDGES : EDGES
  const value = [
    () => by.pick(edges),
    () => old + 1n,
    () => old - 1n,
    () => old * 2n,
    () => old << BigInt(by.below(width * 8)),
    () => BigInt(`0x${by.bytes(width).toString('hex')}`),
  ][by.below(6)]!()
  const hex = BigInt.asUintN(width * 8, value)
    .toString(16)
    .padStart(width * 2, '0')
  const written = Buffer.from(hex, 'hex')
  bytes.set(big ? written : written.reverse())
}

/** Damage that knows nothing of a format, within the first `within` bytes; may give a shorter or longer image. */
export function damage(image: Buffer, by: Chance, within = image.length): Buffer {
  const length = Math.min(within, image.length)
  const at = by.below(length)
  switch (by.below(8)) {
    case 0:
      for (let left = 1 + by.below(8); left > 0; left--) image[by.below(length)]! ^= 1 << by.below(8)
      return image
    case 1:
      by.bytes(1 + by.below(64)).copy(image, at)
      return image
    case 2:
      image.fill(by.pick([0, 0xff]), at, Math.min(image.length, at + 1 + by.below(4096)))
      return image
    case 3:
      return image.subarray(0, at)
    case 4:
      return Buffer.concat([image.subarray(0, at), image.subarray(at + 1 + by.below(512))])
    case 5:
      return Buffer.concat([image.subarray(0, at), by.bytes(1 + by.below(512)), image.subarray(at)])
    case 6:
      image.copy(image, by.below(length), at, Math.min(length, at + 1 + by.below(8192)))
      return image
    default:
      changeField(image, { at, width: by.pick([1, 2, 4, 8]), big: by.below(2) === 0 }, by)
      return image
  }
}
