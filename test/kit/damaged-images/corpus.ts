import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chance } from './chance.js'
import { mutateGzip, mutateXz, mutateZstd } from './compressed.js'
import { mutateExt4 } from './ext4.js'
import { archives, mutatedInitramfs, mutatedIso, type Archives } from './live.js'
import { BOOT, metalImage, mutateGpt, type MetalImage } from './metal.js'
import { mutatedQcow2 } from './qcow2.js'

export const FORMATS = ['gpt', 'ext4', 'xz', 'gzip', 'zstd', 'qcow2', 'iso', 'cpio'] as const
export type Format = (typeof FORMATS)[number]

/** An image that is damaged in a way that its seed says. */
export interface Mutant {
  format: Format
  seed: number
}

/** How many of every so many images are of a format. */
const SHARES: Record<Format, number> = { gpt: 3, ext4: 6, xz: 2, gzip: 2, zstd: 2, qcow2: 3, iso: 4, cpio: 3 }
const ORDER = FORMATS.flatMap((format) => Array.from({ length: SHARES[format] }, () => format))

/** The mutants from number `from` up to `to`, exclusive, of all formats in turn. */
export const mutants = (from: number, to: number): Mutant[] =>
  Array.from({ length: to - from }, (_, index) => ({
    format: ORDER[((from + index) * 7) % ORDER.length]!,
    seed: from + index,
  }))

/** The images that are damaged: made of the rehearsal image and of live images that are made here. */
export interface Originals {
  metal: MetalImage
  live: Archives
}

export async function originals(): Promise<Originals> {
  const metal = await metalImage()
  return { metal, live: await archives(metal.zst) }
}

/** Keeps them in a folder, for processes that need not spend time and memory on making them. */
export async function keepOriginals(made: Originals, folder: string): Promise<void> {
  for (const [kind, images] of Object.entries(made) as [string, object][])
    for (const [name, bytes] of Object.entries(images) as [string, Buffer][])
      await writeFile(join(folder, `${kind}.${name}`), bytes)
}

export async function cachedOriginals(folder: string): Promise<Originals> {
  const of = async <N extends string>(kind: string, ...names: N[]) =>
    Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await readFile(join(folder, `${kind}.${name}`))])),
    ) as Record<N, Buffer>
  return { metal: await of('metal', 'raw', 'xz', 'gz', 'zst'), live: await of('live', 'plain', 'xz', 'gz', 'zst') }
}

export function mutatedImage({ metal, live }: Originals, { format, seed }: Mutant): Buffer {
  const by = chance(seed)
  switch (format) {
    case 'gpt':
      return mutateGpt(Buffer.from(metal.raw), by)
    case 'ext4':
      return mutateExt4(Buffer.from(metal.raw), BOOT, by)
    case 'xz':
      return mutateXz(Buffer.from(metal.xz), by)
    case 'gzip':
      return mutateGzip(Buffer.from(metal.gz), by)
    case 'zstd':
      return mutateZstd(Buffer.from(metal.zst), by)
    case 'qcow2':
      return mutatedQcow2(metal.raw, by)
    case 'iso':
      return mutatedIso(live, by)
    case 'cpio':
      return mutatedInitramfs(live, by)
  }
}
