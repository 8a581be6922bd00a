import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { keyedRandom, type SeededRandom } from '../../../base/runtime/index.js'

/** Changes of one file of a state folder. `older` is a copy of that file from an earlier time. */
const MUTATIONS = ['flip', 'zero', 'cut', 'swap', 'random', 'older', 'remove', 'empty', 'garbage'] as const
type Mutation = (typeof MUTATIONS)[number]

/** A state folder at two times; the later one is what was acknowledged. */
export interface StateModel {
  readonly earlier: string
  readonly later: string
}

export interface MutatedCopy {
  /** Says what was done, for people. */
  readonly what: string
  readonly file: string
}

/** Copies the later folder with one file changed. The same seed changes the same bytes of the same folder. */
export async function mutatedCopy(model: StateModel, folder: string, seed: number): Promise<MutatedCopy> {
  const random = keyedRandom(`mutation ${seed}`)
  await mkdir(folder)
  const files = await filesIn(model.later)
  for (const file of files) await copyFile(join(model.later, file), join(folder, file))
  const file = pick(random, files)
  const mutation = pick(random, MUTATIONS)
  await mutate(join(folder, file), join(model.earlier, file), mutation, random)
  return { what: `seed ${seed}: ${mutation} ${file}`, file }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort()
}

async function mutate(path: string, earlier: string, mutation: Mutation, random: SeededRandom): Promise<void> {
  if (mutation === 'remove') return rm(path)
  if (mutation === 'older') return (await isThere(earlier)) ? copyFile(earlier, path) : rm(path)
  await writeFile(path, changed(await readFile(path), mutation, random))
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

function changed(bytes: Buffer, mutation: Exclude<Mutation, 'remove' | 'older'>, random: SeededRandom): Buffer {
  const at = below(random, bytes.length)
  switch (mutation) {
    case 'flip':
      for (let flips = pick(random, [1, 1, 2, 20]); flips > 0 && bytes.length > 0; flips--)
        bytes[below(random, bytes.length)]! ^= 1 << below(random, 8)
      return bytes
    case 'zero':
      return bytes.fill(0, at, Math.min(bytes.length, at + pick(random, [1, 512, 4096])))
    case 'random':
      return fillRandom(bytes, at, random)
    case 'cut':
      return bytes.subarray(0, at)
    case 'swap':
      return swapped(bytes, pick(random, [16, 200, 4096]), random)
    case 'empty':
      return Buffer.alloc(0)
    case 'garbage':
      return Buffer.concat([bytes, fillRandom(Buffer.alloc(pick(random, [1, 500, 9000])), 0, random)])
  }
}

function fillRandom(bytes: Buffer, at: number, random: SeededRandom): Buffer {
  const end = Math.min(bytes.length, at + 512)
  for (let position = at; position < end; position++) bytes[position] = below(random, 256)
  return bytes
}

/** Exchanges two blocks. */
function swapped(bytes: Buffer, size: number, random: SeededRandom): Buffer {
  const blocks = Math.floor(bytes.length / size)
  if (blocks < 2) return bytes
  const first = below(random, blocks) * size
  const second = below(random, blocks) * size
  const block = Buffer.from(bytes.subarray(first, first + size))
  bytes.copy(bytes, first, second, second + size)
  block.copy(bytes, second)
  return bytes
}

const below = (random: SeededRandom, limit: number): number => Math.floor(random.next() * limit)
const pick = <T>(random: SeededRandom, values: readonly T[]): T => values[below(random, values.length)]!
