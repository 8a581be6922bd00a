import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import lzma from 'lzma-native'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seededRandom, systemClock } from '../../runtime/index.js'
import { largestDictionary, readXzIndex } from './xz-index.js'
import { hasXzProgram, unxzByProgram } from './xz-program.js'

const KIB = 1024
const clock = systemClock()
const folder = mkdtempSync(join(tmpdir(), 'ironstage-xz-'))
afterAll(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'image.xz')
const plain = Buffer.concat([Buffer.from(seededRandom(3).bytes(600 * KIB)), Buffer.alloc(900 * KIB, 'CoreOS')])
let xz: Buffer
beforeAll(async () => {
  xz = await new Promise((resolve) => lzma.compress(plain, { preset: 0 }, (result) => resolve(result)))
})

// On a host without xz the decoder of npm does the same; it has its own tests.
describe.runIf(await hasXzProgram(clock))('by the xz of this computer', () => {
  test('the bytes come back, and the number of read bytes is reported', async () => {
    writeFileSync(path, xz)
    const positions: number[] = []
    const parts: Uint8Array[] = []
    for await (const part of unxzByProgram(path, clock, (position) => positions.push(position))) parts.push(part)
    expect(Buffer.concat(parts).equals(plain)).toBe(true)
    expect(positions).toEqual([256 * KIB, 512 * KIB, xz.length])
  })

  test('a damaged file yields the bytes before the damage', async () => {
    const damaged = Buffer.from(xz)
    damaged.fill(0x55, 400 * KIB, 401 * KIB)
    writeFileSync(path, damaged)
    const parts: Uint8Array[] = []
    const all = (async () => {
      for await (const part of unxzByProgram(path, clock, () => {})) parts.push(part)
    })()
    await expect(all).rejects.toThrow('lzma data error')
    const before = Buffer.concat(parts)
    expect(before.length).toBeGreaterThan(256 * KIB)
    expect(plain.subarray(0, 300 * KIB).equals(before.subarray(0, 300 * KIB))).toBe(true)
  })

  test('parallel and sequential decompression of a multi-block file give the same bytes, damaged or not', async () => {
    writeFileSync(path.replace(/\.xz$/, ''), plain)
    const write = ['-kf', '--threads=2', '--block-size=128KiB', '--lzma2=preset=0,dict=1MiB']
    execFileSync('xz', [...write, path.replace(/\.xz$/, '')])
    const whole = readFileSync(path)
    const index = (await readXzIndex(path, clock))!
    expect(index.blocks).toHaveLength(12)
    expect(await largestDictionary(path, index, clock)).toBe(1024 * KIB)
    const outcome = async (options: Parameters<typeof unxzByProgram>[3]) => {
      const parts: Uint8Array[] = []
      try {
        for await (const part of unxzByProgram(path, clock, () => {}, options)) parts.push(part)
      } catch (error) {
        return [(error as Error).message, Buffer.concat(parts)] as const
      }
      return [null, Buffer.concat(parts)] as const
    }
    expect(await outcome({ index })).toEqual([null, plain])
    const damaged = Buffer.from(whole)
    damaged.fill(0x55, 400 * KIB, 401 * KIB)
    writeFileSync(path, damaged)
    const [sentence, before] = await outcome({ index })
    expect(sentence).toBe('lzma data error')
    expect([sentence, before]).toEqual(await outcome({}))
    // Only the check at the end of their block shows damage of bytes that were stored as they are.
    expect(before.subarray(0, 384 * KIB).equals(plain.subarray(0, 384 * KIB))).toBe(true)
  })

  test('it ends with its caller: no more is read, and the reason is reported', async () => {
    writeFileSync(path, xz)
    for await (const part of unxzByProgram(path, clock, () => {})) {
      expect(part.length).toBeGreaterThan(0)
      break
    }
    const stopped = new Error('stopped')
    const all = (async () => {
      for await (const part of unxzByProgram(path, clock, () => {
        throw stopped
      }))
        expect(part).toBeDefined()
    })()
    await expect(all).rejects.toBe(stopped)
  })
})
