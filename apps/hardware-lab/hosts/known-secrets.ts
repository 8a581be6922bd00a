import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { UserError, defined, readNamedText } from '../../../base/runtime/index.js'
import type { SecretSetting } from './host.js'

const runFile = promisify(execFile)

export interface SecretParts {
  /** Folder that files are relative to. */
  folder: string
  variables: Readonly<Record<string, string | undefined>>
  signal?: AbortSignal
}

/** Secrets that were read, so that nothing that is written shows them. */
export class KnownSecrets {
  readonly #values = new Set<string>()

  add(value: string): string {
    // Shorter ones would mask ordinary words.
    if (value.length >= 4) this.#values.add(value)
    return value
  }

  /** The text with every known secret masked, also where it is percent-encoded or in JSON. */
  mask(text: string): string {
    let result = text
    for (const value of this.#values)
      for (const form of new Set([value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]))
        result = result.replaceAll(form, '******')
    return result
  }
}

/**
 * Reads a secret.
 *
 * @param what it is, for errors: `the password of the BMC of worker-1`
 * @throws UserError `hosts-secret` (usage)
 */
export async function readSecret(setting: SecretSetting, what: string, parts: SecretParts): Promise<string> {
  const lacking = (message: string, cause?: unknown) =>
    new UserError('hosts-secret', `${what} is not there: ${message}`, {
      kind: 'usage',
      ...defined({ cause }),
    })
  if ('text' in setting) return setting.text
  if ('env' in setting) {
    const value = parts.variables[setting.env]
    if (value === undefined || value === '') throw lacking(`the environment has no ${setting.env}`)
    return value
  }
  if ('file' in setting) {
    const path = resolve(parts.folder, setting.file)
    const text = await readNamedText(path).catch((cause: unknown) => {
      throw lacking(`${path} cannot be read`, cause)
    })
    return firstLine(text) ?? fail(lacking(`${path} is empty`))
  }
  const [program, ...args] = setting.command
  const { stdout } = await runFile(program!, args, {
    cwd: parts.folder,
    timeout: 30_000,
    env: parts.variables as NodeJS.ProcessEnv,
    ...defined({ signal: parts.signal }),
  }).catch((error: NodeJS.ErrnoException & { code?: unknown }) => {
    // The message of an exec error has the arguments and all output.
    throw lacking(`${program} ${error.code === 'ENOENT' ? 'is not installed' : `ended with ${String(error.code)}`}`)
  })
  return firstLine(stdout) ?? fail(lacking(`${program} printed nothing`))
}

const firstLine = (text: string): string | undefined => text.split(/\r?\n/, 1)[0] || undefined

function fail(error: UserError): never {
  throw error
}
