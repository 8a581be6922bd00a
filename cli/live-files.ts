import { link, mkdir, mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { doing, LiveImageError, streamOf, type ByteSource, type Clock, type NamedFile } from '../lab/index.js'
import type { Environment, Output } from './environment.js'

/** The bytes of a file, or of standard input where none is named. */
export async function inputBytes(path: string | undefined, { stdin }: Environment): Promise<Buffer> {
  if (path !== undefined) return doing(`reading ${path}`, () => readFile(path))
  const parts: Buffer[] = []
  for await (const part of stdin) parts.push(Buffer.from(part as Uint8Array))
  return Buffer.concat(parts)
}

/** Files as they were named, in that order. */
export async function namedFiles(paths: readonly string[] = []): Promise<NamedFile[]> {
  const files: NamedFile[] = []
  for (const path of paths) files.push({ path, bytes: await inputBytes(path, NOTHING) })
  return files
}

/** A path is always given where this is used. */
const NOTHING = { stdin: [] } as unknown as Environment

/** @throws LiveImageError where the output is a terminal, which binary data would upset */
export function refuseTerminal(output: string | undefined, { stdout }: Environment): void {
  if (output === '-' && stdout.isTTY) throw new LiveImageError('Refusing to write binary data to terminal')
}

/** Writes to standard output no faster than it is read. */
export async function writeTo(stdout: Output, source: ByteSource): Promise<void> {
  for await (const part of streamOf(source)) {
    const full = stdout.write(Buffer.from(part.buffer, part.byteOffset, part.length)) === false
    if (full && stdout.once) await new Promise<void>((resolve) => stdout.once!('drain', resolve))
  }
}

/** A new file, which is not there until it is whole; one that exists is never replaced. `-` is standard output. */
export async function writeOutput(output: string, source: ByteSource, environment: Environment): Promise<void> {
  if (output === '-') return writeTo(environment.stdout, source)
  const folder = await doing('creating temporary file', () => mkdtemp(join(dirname(output), '.ironstage-')))
  try {
    const whole = join(folder, 'whole')
    await writeNew(whole, source)
    // Unlike a rename, a link fails where something is.
    await doing(`persisting output file to ${output}`, () => link(whole, output))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** As it is printed, with the folder as it was given. */
export const extractPath = (folder: string, name: string): string => `${folder.replace(/(?<=.)\/+$/, '')}/${name}`

/** Writes a new file into a folder, which is made. */
export async function extractTo(folder: string, path: string, source: ByteSource): Promise<void> {
  await doing(`creating directory ${folder}`, () => mkdir(folder, { recursive: true }))
  await writeNew(path, source)
}

/** A file that must not be there; what was written of it goes when it cannot be completed. */
export async function writeNew(path: string, source: ByteSource): Promise<void> {
  const file = await doing(`opening ${path}`, () => open(path, 'wx'))
  try {
    for await (const part of streamOf(source)) await doing(`writing ${path}`, () => file.writeFile(part))
    await file.datasync()
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

/** What a command that reads and writes live images is given. */
export interface LiveCommand {
  environment: Environment
  clock: Clock
}
