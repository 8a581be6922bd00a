import { UserError, wildcardPattern } from '../../base/runtime/index.js'
import { ssh2Constants } from './ssh2.js'

type Constants = ReturnType<typeof ssh2Constants>

/** Algorithms to offer, in order of preference. */
export interface Algorithms {
  kex: string[]
  serverHostKey: string[]
  cipher: string[]
  hmac: string[]
}

const supported = (constants: Constants): Record<keyof Algorithms, readonly string[]> => ({
  kex: constants.SUPPORTED_KEX,
  serverHostKey: constants.SUPPORTED_SERVER_HOST_KEY,
  cipher: constants.SUPPORTED_CIPHER,
  hmac: constants.SUPPORTED_MAC,
})

/** No algorithm with SHA-1 is offered by default, as in OpenSSH since 8.8; ssh2 would offer them. */
const sound = (name: string): boolean => !/sha1|^ssh-rsa$|^ssh-dss$/.test(name)

const byDefault = (constants: Constants): Algorithms => ({
  kex: constants.DEFAULT_KEX.filter(sound),
  serverHostKey: constants.DEFAULT_SERVER_HOST_KEY.filter(sound),
  cipher: [...constants.DEFAULT_CIPHER],
  hmac: constants.DEFAULT_MAC.filter(sound),
})

/** Keywords of ssh_config. */
const ALGORITHM_KEYWORDS: Record<keyof Algorithms, string> = {
  kex: 'KexAlgorithms',
  serverHostKey: 'HostKeyAlgorithms',
  cipher: 'Ciphers',
  hmac: 'MACs',
}

/**
 * Parses lists of ssh_config: whole lists, or changes to the defaults that begin with `+`, `-` or `^`. Algorithms that
 * ssh2 lacks are dropped.
 *
 * @throws UserError when none remains
 */
export function algorithmsOf(configured: { [K in keyof Algorithms]?: string | undefined }): Algorithms {
  const constants = ssh2Constants()
  const known = supported(constants)
  const defaults = byDefault(constants)
  const chosen = { ...defaults }
  for (const kind of Object.keys(defaults) as (keyof Algorithms)[]) {
    const text = configured[kind]
    if (text === undefined) continue
    chosen[kind] = changeAlgorithms(defaults[kind], text).filter((name) => known[kind].includes(name))
    if (chosen[kind].length === 0)
      throw new UserError(
        'ssh-algorithms',
        `none of the configured ${ALGORITHM_KEYWORDS[kind]} is supported: ${text}`,
        {
          remedy: `supported are ${known[kind].join(', ')}`,
        },
      )
  }
  return chosen
}

function changeAlgorithms(defaults: readonly string[], text: string): string[] {
  const sign = /^[+^-]/.exec(text)?.[0]
  const names = text.slice(sign ? 1 : 0).split(',')
  const unique = (all: readonly string[]) => [...new Set(all)]
  switch (sign) {
    case '+':
      return unique([...defaults, ...names])
    case '^':
      return unique([...names, ...defaults])
    case '-':
      return defaults.filter((name) => !names.some((pattern) => wildcardPattern(pattern).test(name)))
    default:
      return unique(names)
  }
}

/** Host key algorithms, those for keys of a known type first. */
export function preferringKnown(offered: readonly string[], knownTypes: readonly string[]): string[] {
  const known = offered.filter((name) => knownTypes.includes(name.startsWith('rsa-sha2-') ? 'ssh-rsa' : name))
  return [...known, ...offered.filter((name) => !known.includes(name))]
}
