import { usageError } from '../usage-error.js'
import { variableOf, type CommandOptionName } from './option-table.js'

/** Options whose value is a secret, each with the option that names a file with it. */
const FILE_OF = {
  'bmc-password': 'bmc-password-file',
  token: 'token-file',
} as const satisfies Partial<Record<CommandOptionName, CommandOptionName>>

const SECRETS = Object.entries(FILE_OF) as [keyof typeof FILE_OF, CommandOptionName][]

/**
 * Puts the secrets that files have into the options that they stand for.
 *
 * @throws UserError (usage) for a file without a secret, and for a secret that is named in two ways
 */
export async function withSecretsOfFiles<T extends object>(options: T): Promise<T> {
  const read = { ...options } as Record<string, unknown>
  for (const [name, fileName] of SECRETS) {
    const file = read[fileName]
    if (typeof file !== 'string') continue
    if (read[name] !== undefined)
      throw usageError(`--${name} and --${fileName} both name the same secret`, 'leave one of them out')
    read[name] = await secretIn(file)
  }
  return read as T
}

/** Warnings of secrets on the command line, where every user of this host can read them. */
export const secretsOnCommandLine = (flags: Readonly<Record<string, unknown>>): string[] =>
  SECRETS.filter(([name]) => flags[name] !== undefined).map(
    ([name, fileName]) =>
      `every user of this host can read --${name} in the list of processes: use --${fileName} or ${variableOf(name)}`,
  )

/**
 * The one line of a file.
 *
 * @throws UserError (usage) `option-file`; also for a file that cannot be read
 */
export async function secretIn(file: string): Promise<string> {
  // Help and wrong usage load no more than they need.
  const { readTextFile: readText } = await import('./input-files.js')
  const text = await readText(file, 'file with the password')
  const secret = text.replace(/\r?\n$/, '')
  if (secret !== '' && !/[\r\n]/.test(secret)) return secret
  throw usageError(
    `${file} has no password: one line that is not empty`,
    `make one: openssl rand -base64 15 > ${file}`,
    'option-file',
  )
}
