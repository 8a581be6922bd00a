import { readFile } from 'node:fs/promises'
import lzma from 'lzma-native'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'

async function unpacked(path: string | URL): Promise<Buffer> {
  const xz = await readFile(path)
  return new Promise((resolve) => void lzma.decompress(xz, {}, resolve))
}

/** The image that comes with the project, as it lies on a disk. */
export const rehearsalImage = (): Promise<Buffer> => unpacked(REHEARSAL_IMAGE)

/** The same files in smaller partitions, for tests that move every byte of an image many times. */
export const smallImage = (): Promise<Buffer> =>
  unpacked(new URL('../../fixtures/images/small-metal.raw.xz', sources()))

/** This folder among the sources, also when it runs compiled. */
const sources = (): string => import.meta.url.replace('/dist/test/', '/test/')
