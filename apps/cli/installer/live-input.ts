import { link, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { streamSource, type ByteSource } from '../../../base/bytes/index.js'
import { type Clock, makeFolder, temporaryFolder, readNamedFile } from '../../../base/runtime/index.js'
import { LiveImageError, type NamedFile } from '../../../coreos/index.js'
import { stopAsked, type Environment } from '../environment.js'
import { readStandardInput } from '../options/standard-input.js'

/** The bytes of a file, or of standard input where none is named. */
export async function inputBytes(path: string | undefined, environment: Environment): Promise<Buffer> {
  return path === undefined
    ? readStandardInput(environment)
    : LiveImageError.during(`reading ${path}`, () => readNamedFile(path))
}

/** The files' bytes, in the order of their names. */
export async function namedFiles(paths: readonly string[] = []): Promise<NamedFile[]> {
  const files: NamedFile[] = []
  for (const path of paths)
    files.push({ path, bytes: await LiveImageError.during(`reading ${path}`, () => readNamedFile(path)) })
  return files
}

/** @throws LiveImageError where the output is a terminal, which binary data would upset */
export function refuseTerminal(output: string | undefined, { stdout }: Environment): void {
  if (output === '-' && stdout.isTTY) throw new LiveImageError('Refusing to write binary data to terminal')
}

/** Writes to standard output at the speed of its reader. */
export async function writeTo({ stdout, stopped }: Environment, source: ByteSource): Promise<void> {
  for await (const part of streamSource(source)) {
    const isFull = stdout.contents(Buffer.from(part.buffer, part.byteOffset, part.length)) === false
    if (isFull) await Promise.race([stdout.drained(), stopAsked(stopped)])
    stopped.throwIfAborted()
  }
}

/** Writes a new file, which appears only when complete; an existing file is never replaced. `-` is standard output. */
export async function writeOutput(output: string, source: ByteSource, environment: Environment): Promise<void> {
  if (output === '-') return writeTo(environment, source)
  await using folder = await LiveImageError.during('creating temporary file', () => temporaryFolder(dirname(output)))
  const whole = join(folder.path, 'whole')
  await writeNew(whole, source)
  // Unlike a rename, a link fails where a file exists.
  await LiveImageError.during(`persisting output file to ${output}`, () => link(whole, output))
}

/** The path for output: the folder as the user named it. */
export const extractPath = (folder: string, name: string): string => `${folder.replace(/(?<=.)\/+$/, '')}/${name}`

/** Writes a new file into a folder, and makes the folder when it is missing. */
export async function extractTo(folder: string, path: string, source: ByteSource): Promise<void> {
  await LiveImageError.during(`creating directory ${folder}`, () => makeFolder(folder))
  await writeNew(path, source)
}

/** Writes a file that must not exist yet, and deletes it when it cannot be completed. */
export async function writeNew(path: string, source: ByteSource): Promise<void> {
  const file = await LiveImageError.during(`opening ${path}`, () => open(path, 'wx'))
  try {
    for await (const part of streamSource(source))
      await LiveImageError.during(`writing ${path}`, () => file.writeFile(part))
    await file.datasync()
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

/** Input of a command that reads and writes live images. */
export interface LiveCommand {
  environment: Environment
  clock: Clock
}
