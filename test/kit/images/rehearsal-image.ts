import { readFile } from 'node:fs/promises'
import lzma from 'lzma-native'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'

/** The image that comes with the project, as it lies on a disk. */
export async function rehearsalImage(): Promise<Buffer> {
  const xz = await readFile(REHEARSAL_IMAGE)
  return new Promise((resolve) => void lzma.decompress(xz, {}, resolve))
}
