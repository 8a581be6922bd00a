import { Failure } from './installer-error.js'

/**
 * Compiles a pattern of the installer's glob library: `?`, `*`, `**`, `[a-z]`, `[!a-z]`; a slash is not special.
 *
 * @throws Failure
 */
export function compileGlob(pattern: string): (text: string) => boolean {
  const letters = [...pattern]
  let source = ''
  for (let at = 0; at < letters.length;) {
    const letter = letters[at]!
    if (letter === '?') {
      source += '.'
      at++
    } else if (letter === '*') {
      let end = at
      while (letters[end] === '*') end++
      if (end - at > 2) throw syntax(at + 2, 'wildcards are either regular `*` or recursive `**`')
      const ends = [at > 0 && letters[at - 1] !== '/', end < letters.length && letters[end] !== '/']
      if (end - at === 2 && (ends[0] || ends[1]))
        throw syntax(ends[0] ? at - 1 : end, 'recursive wildcards must form a single path component')
      source += '.*'
      at = end
    } else if (letter === '[') {
      const negated = letters[at + 1] === '!'
      const start = at + (negated ? 2 : 1)
      // A closing bracket in the first position is literal.
      const end = letters.indexOf(']', start + 1)
      if (end < 0) throw syntax(at, 'invalid range pattern')
      source += charClass(letters.slice(start, end), negated)
      at = end + 1
    } else {
      source += escape(letter)
      at++
    }
  }
  const expression = new RegExp(`^${source}$`, 'su')
  return (text) => expression.test(text)
}

function charClass(letters: readonly string[], negated: boolean): string {
  let members = ''
  for (let at = 0; at < letters.length;) {
    const [first, dash, last] = letters.slice(at)
    if (dash === '-' && last !== undefined) {
      if (first! <= last) members += `${escape(first!)}-${escape(last)}`
      at += 3
    } else {
      members += escape(first!)
      at++
    }
  }
  if (members === '') return negated ? '.' : '(?!)'
  return `[${negated ? '^' : ''}${members}]`
}

const escape = (letter: string): string =>
  /[\w\s]/.test(letter) ? letter : `\\u{${letter.codePointAt(0)!.toString(16)}}`

const syntax = (position: number, what: string): Failure =>
  new Failure(`Pattern syntax error near position ${position}: ${what}`)
