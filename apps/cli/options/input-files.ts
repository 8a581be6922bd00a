import { butaneVariant } from '../../../ignition/index.js'
import { UserError, readNamedFile, readNamedText } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { readStandardInput } from './standard-input.js'
import { usageError } from '../usage-error.js'

/** A file that a command reads. */
export interface InputFile {
  /** `standard input` for `-`. */
  name: string
  bytes: Uint8Array
}

/**
 * The files that a command names, `-` for standard input.
 *
 * @param limits of a file, in bytes; standard input has one of its own
 * @throws UserError (usage) for one that cannot be read, or for standard input named twice
 */
export async function readInputs(
  files: readonly string[],
  environment: Environment,
  what = 'Ignition config',
  limits: { most?: number } = {},
): Promise<InputFile[]> {
  if (files.filter((file) => file === '-').length > 1)
    throw usageError('standard input can be read only once', 'name - once', 'file-unreadable')
  const inputs: InputFile[] = []
  for (const file of files)
    try {
      if (file !== '-') inputs.push({ name: file, bytes: await readNamedFile(file, limits) })
      else inputs.push({ name: 'standard input', bytes: await readStandardInput(environment) })
    } catch (cause) {
      throw fileUnreadableError(file, what, 'name a file, or - for standard input', cause)
    }
  return inputs
}

/**
 * A Butane file where an Ignition config is expected.
 *
 * @throws UserError (usage) with the command that makes the one from the other
 */
export function refuseButane(name: string, bytes: Uint8Array): void {
  const variant = butaneVariant(Buffer.from(bytes).toString())
  if (variant === null) return
  const made = `${name.replace(/\.(bu|ya?ml|json)$/, '')}.ign`
  throw usageError(
    `${name} is a Butane file (variant ${variant}), not an Ignition config`,
    name === 'standard input'
      ? 'butane --strict | ironstage ...'
      : `butane --strict ${name} > ${made}, then give ${made}`,
    'ignition-butane',
  )
}

/** One file that is text, which is not to be standard input. */
export async function readTextFile(path: string, what: string): Promise<string> {
  try {
    return await readNamedText(path)
  } catch (cause) {
    throw fileUnreadableError(path, what, 'name a file that you may read', cause)
  }
}

const fileUnreadableError = (path: string, what: string, remedy: string, cause: unknown): UserError =>
  new UserError('file-unreadable', `the ${what} ${path} cannot be read`, { cause, kind: 'usage', remedy })
