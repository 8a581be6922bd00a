/** What a command line of a unit may refer to. */
export interface CommandScope {
  /** `ironic-agent.service` */
  unit: string
  /** Of `Environment=`, as `$NAME` and `${NAME}`. */
  environment: Readonly<Record<string, string>>
}

/** Characters before a program's path that say how to run it. */
const PREFIX = /^[-@:+!|]+/

/**
 * A command of `ExecStart=` as the words that its program gets (systemd.service(5), *Command lines*): quotes, escapes,
 * specifiers and variables. A `$NAME` that is a word by itself becomes as many words as its value has.
 */
export function commandWords(line: string, scope: CommandScope): string[] {
  const words = splitWords(line).flatMap((word) => {
    const whole = /^\$(\w+)$/.exec(word)
    if (whole) return splitWords(scope.environment[whole[1]!] ?? '')
    const filled = word.replace(/\$\$|\$\{(\w+)\}/g, (all, name?: string) =>
      name === undefined ? (all === '$$' ? '$' : all) : (scope.environment[name] ?? ''),
    )
    return [specifiers(filled, scope.unit)]
  })
  return words.map((word, index) => (index === 0 ? word.replace(PREFIX, '') : word))
}

/** `NAME=value` pairs of `Environment=` lines; later ones win. */
export function environmentOf(lines: readonly string[], unit: string): Record<string, string> {
  const environment: Record<string, string> = {}
  for (const pair of lines.flatMap(splitWords)) {
    const equals = pair.indexOf('=')
    if (equals > 0) environment[pair.slice(0, equals)] = specifiers(pair.slice(equals + 1), unit)
  }
  return environment
}

function specifiers(text: string, unit: string): string {
  const known: Readonly<Record<string, string>> = {
    '%': '%',
    n: unit,
    N: unit.replace(/\.[a-z]+$/, ''),
    p: unit.replace(/(@.*)?\.[a-z]+$/, ''),
    t: '/run',
    T: '/tmp',
    V: '/var/tmp',
    E: '/etc',
    S: '/var/lib',
    h: '/root',
    u: 'root',
    U: '0',
  }
  return text.replace(/%(.)/g, (all, letter: string) => known[letter] ?? all)
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

/** Words between blanks, with quotes and backslashes undone. What is never closed reaches to the end. */
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
