import { expect, test } from 'vitest'
import { XZ_TRUNCATED } from './xz-coder.js'
import { DecodeError, TRAILING_DATA } from './decode-error.js'
import { withoutLostTail } from './lost-tail.js'

const KIB = 1024

async function* pieces(sizes: readonly number[], failure?: string) {
  for (const [index, size] of sizes.entries()) yield Buffer.alloc(size, index + 1)
  if (failure !== undefined) throw new DecodeError(failure)
}

async function written(decoded: AsyncIterable<Uint8Array>) {
  const parts: Uint8Array[] = []
  let failed: string | undefined
  try {
    for await (const part of withoutLostTail(decoded)) parts.push(part)
  } catch (error) {
    failed = (error as Error).message
  }
  return { bytes: Buffer.concat(parts), failed }
}

test.each([[[]], [[5]], [[32 * KIB]], [[100 * KIB, 1, 40 * KIB, 7]], [Array.from({ length: 200 }, () => 1000)]])(
  'whole data arrive whole: %j',
  async (sizes) => {
    const all = Buffer.concat(sizes.map((size, index) => Buffer.alloc(size, index + 1)))
    const { bytes, failed } = await written(pieces(sizes))
    expect([bytes.equals(all), failed]).toEqual([true, undefined])
    for (const failure of [XZ_TRUNCATED, TRAILING_DATA]) {
      const cut = await written(pieces(sizes, failure))
      expect([cut.bytes.equals(all), cut.failed]).toEqual([true, failure])
    }
  },
)

test.each([[[5]], [[32 * KIB]], [[100 * KIB, 1, 40 * KIB, 7]], [Array.from({ length: 200 }, () => 1000)]])(
  'before damage one call of the decoder is lost: %j',
  async (sizes) => {
    const all = Buffer.concat(sizes.map((size, index) => Buffer.alloc(size, index + 1)))
    const { bytes, failed } = await written(pieces(sizes, 'lzma data error'))
    expect(failed).toBe('lzma data error')
    expect(bytes.equals(all.subarray(0, Math.max(0, all.length - 32 * KIB)))).toBe(true)
  },
)
