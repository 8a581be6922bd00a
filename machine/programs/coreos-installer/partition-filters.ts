import type { GptPartition } from '../../disk/gpt.js'
import { duringInstall, Failure } from './installer-error.js'
import { compileGlob } from './glob.js'
import { checkNumber } from './command-line/option-values.js'
import type { InstallOptions } from './command-line/installer-options.js'

/** Filters for the partitions to save. */
export interface PartitionFilters {
  /** True if a filter is by number, which needs a GPT. */
  byIndex: boolean
  any: boolean
  matches(partition: Pick<GptPartition, 'number' | 'name'>): boolean
}

/**
 * Parses `--save-partlabel` and `--save-partindex`: comma-separated globs, and numbers and ranges.
 *
 * @throws Failure
 */
export async function parseFilters(options: InstallOptions): Promise<PartitionFilters> {
  const globs: ((text: string) => boolean)[] = []
  for (const glob of options.savePartlabel.flatMap((list) => list.split(',')))
    globs.push(await duringInstall(`couldn't parse label glob '${glob}'`, () => compileGlob(glob)))
  const ranges: { from: number; to: number }[] = []
  for (const range of options.savePartindex.flatMap((list) => list.split(','))) ranges.push(await parseRange(range))
  return {
    byIndex: ranges.length > 0,
    any: globs.length + ranges.length > 0,
    matches: ({ number, name }) =>
      globs.some((matches) => matches(name)) || ranges.some(({ from, to }) => number >= from && number <= to),
  }
}

async function parseRange(range: string): Promise<{ from: number; to: number }> {
  const parts = range.split('-')
  if (parts.length > 2) throw new Failure(`couldn't parse partition index range '${range}'`)
  const numbers = []
  for (const part of parts) numbers.push(part === '' ? undefined : await parseIndex(part))
  const from = numbers[0]
  const to = numbers.at(-1)
  if (from === undefined && to === undefined)
    throw new Failure(`both ends of partition index range '${range}' cannot be open`)
  if (from !== undefined && to !== undefined && from > to)
    throw new Failure(`start of partition index range '${range}' cannot be greater than end`)
  return { from: from ?? 1, to: to ?? Infinity }
}

async function parseIndex(text: string): Promise<number> {
  const index = await duringInstall(`couldn't parse partition index '${text}'`, () => {
    const wrong = checkNumber(text)
    if (wrong !== undefined) throw new Failure(wrong)
    return Number(text)
  })
  if (index === 0) throw new Failure('partition index cannot be zero')
  return index
}
