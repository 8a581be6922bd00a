import constants from 'ssh2/lib/protocol/constants.js'
import { UserError } from '../../runtime/index.js'

/** What is offered, the most wanted first. */
export interface Algorithms {
  kex: string[]
  serverHostKey: string[]
  cipher: string[]
  hmac: string[]
}

const SUPPORTED: Record<keyof Algorithms, readonly string[]> = {
  kex: constants.SUPPORTED_KEX,
  serverHostKey: constants.SUPPORTED_SERVER_HOST_KEY,
  cipher: constants.SUPPORTED_CIPHER,
  hmac: constants.SUPPORTED_MAC,
}

/** As OpenSSH since 8.8, nothing that rests on SHA-1 is offered unasked, though ssh2 would. */
const sound = (name: string): boolean => !/sha1|^ssh-rsa$|^ssh-dss$/.test(name)

const DEFAULT: Algorithms = {
  kex: constants.DEFAULT_KEX.filter(sound),
  serverHostKey: constants.DEFAULT_SERVER_HOST_KEY.filter(sound),
  cipher: [...constants.DEFAULT_CIPHER],
  hmac: constants.DEFAULT_MAC.filter(sound),
}

/** What algorithms are called in ssh_config. */
const NAMES: Record<keyof Algorithms, string> = {
  kex: 'KexAlgorithms',
  serverHostKey: 'HostKeyAlgorithms',
  cipher: 'Ciphers',
  hmac: 'MACs',
}

/**
 * Of lists as ssh_config has them: whole ones, or changes to the defaults that begin with `+`, `-` or `^`. What ssh2 does
 * not have is passed over, as long as something remains.
 *
 * @throws UserError when nothing does
 */
export function algorithmsOf(given: { [K in keyof Algorithms]?: string | undefined }): Algorithms {
  const chosen = { ...DEFAULT }
  for (const kind of Object.keys(DEFAULT) as (keyof Algorithms)[]) {
    const text = given[kind]
    if (text === undefined) continue
    chosen[kind] = changed(DEFAULT[kind], text).filter((name) => SUPPORTED[kind].includes(name))
    if (chosen[kind].length === 0)
      throw new UserError('ssh-algorithms', `none of the ${NAMES[kind]} that are configured is supported: ${text}`, {
        remedy: `supported are ${SUPPORTED[kind].join(', ')}`,
      })
  }
  return chosen
}

function changed(defaults: readonly string[], text: string): string[] {
  const sign = /^[+^-]/.exec(text)?.[0]
  const names = text.slice(sign ? 1 : 0).split(',')
  const unique = (all: readonly string[]) => [...new Set(all)]
  switch (sign) {
    case '+':
      return unique([...defaults, ...names])
    case '^':
      return unique([...names, ...defaults])
    case '-':
      return defaults.filter((name) => !names.some((pattern) => matches(pattern, name)))
    default:
      return unique(names)
  }
}

const matches = (pattern: string, name: string): boolean =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  ).test(name)

/** Host key algorithms with those first that a key of a known type is shown by. */
export function preferringKnown(offered: readonly string[], knownTypes: readonly string[]): string[] {
  const known = offered.filter((name) => knownTypes.includes(name.startsWith('rsa-sha2-') ? 'ssh-rsa' : name))
  return [...known, ...offered.filter((name) => !known.includes(name))]
}
