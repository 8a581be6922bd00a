/** Names that a command line of a unit may refer to. */
export interface CommandScope {
  /** `ironic-agent.service` */
  unit: string
  /** Variables of `Environment=`, referred to as `$NAME` and `${NAME}`. */
  environment: Readonly<Record<string, string>>
}

/** Characters before a program's path that set how systemd runs it. */
const EXEC_PREFIX = /^[-@:+!|]+/

/** The kernel's limit for arguments (execve(2)). Variables whose values contain variables can grow beyond it. */
const MAX_COMMAND_BYTES = 2 * 2 ** 20

/**
 * Splits a command of `ExecStart=` into the program's arguments as systemd.service(5), *Command lines*, describes:
 * quotes, escapes, specifiers and variables. A `$NAME` that is a word by itself becomes as many words as its value has.
 *
 * @returns an empty list for a command longer than the kernel's limit
 */
export function commandWords(line: string, { unit, environment }: CommandScope): string[] {
  const valueOf = (name: string): string => (Object.hasOwn(environment, name) ? environment[name]! : '')
  const words: string[] = []
  let length = 0
  for (const word of splitWords(line)) {
    const whole = /^\$(\w+)$/.exec(word)
    const filled = whole
      ? valueOf(whole[1]!)
      : word.replace(/\$\$|\$\{(\w+)\}/g, (_, name?: string) => {
          const value = name === undefined ? '$' : valueOf(name)
          length += value.length
          return length > MAX_COMMAND_BYTES ? '' : value
        })
    length += filled.length
    if (length > MAX_COMMAND_BYTES) return []
    for (const each of whole ? splitWords(filled) : [specifiers(filled, unit)]) words.push(each)
  }
  return words.map((word, index) => (index === 0 ? word.replace(EXEC_PREFIX, '') : word))
}

/** `NAME=value` pairs of `Environment=` lines; later ones win. */
export const environmentOf = (lines: readonly string[], unit: string): Record<string, string> =>
  Object.fromEntries(
    lines.flatMap(splitWords).flatMap((pair): [string, string][] => {
      const equals = pair.indexOf('=')
      return equals > 0 ? [[pair.slice(0, equals), specifiers(pair.slice(equals + 1), unit)]] : []
    }),
  )

/** Expands systemd's specifiers: those for the unit's name, and those for fixed folders and the user. */
function specifiers(text: string, unit: string): string {
  const stem = unit.slice(0, Math.max(0, unit.lastIndexOf('.')))
  return text.replace(/%([%nNptTVEShuU])/g, (_, letter: string) => {
    switch (letter) {
      case 'n':
        return unit
      case 'N':
        return stem
      case 'p':
        return stem.split('@')[0]!
      default:
        return PLACES[letter]!
    }
  })
}

const PLACES: Readonly<Record<string, string>> = {
  '%': '%',
  t: '/run',
  T: '/tmp',
  V: '/var/tmp',
  E: '/etc',
  S: '/var/lib',
  h: '/root',
  u: 'root',
  U: '0',
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  s: ' ',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
}

/** Splits at blanks, and resolves quotes and backslashes. A quote that is never closed reaches to the end. */
export function splitWords(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!
    if (quote === '' && /\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
      continue
    }
    word ??= ''
    if (character === quote) quote = ''
    else if (quote === '' && (character === '"' || character === "'")) quote = character
    else if (character === '\\' && at + 1 < line.length) {
      const next = line[++at]!
      const hex = next === 'x' ? /^[0-9a-f]{2}/i.exec(line.slice(at + 1, at + 3)) : null
      if (hex) {
        word += String.fromCharCode(parseInt(hex[0], 16))
        at += 2
      } else word += ESCAPES[next] ?? next
    } else word += character
  }
  return word === undefined ? words : [...words, word]
}
