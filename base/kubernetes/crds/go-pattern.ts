import { classPart, namedClass, refusedPattern, type CharacterSet } from './go-classes.js'
import { LinearMatch, type PatternPart } from './linear-match.js'

/** An expression that is looked for anywhere in a text. */
export interface TextPattern {
  test(text: string): boolean
}

/**
 * An expression of Go (RE2, https://github.com/google/re2/wiki/Syntax) with Go's refusals (regexp/syntax). No text makes it
 * slow: expressions come from objects of users.
 *
 * @throws SyntaxError for a pattern that Go does not have
 */
export function goPattern(source: string): TextPattern {
  const pattern = new LinearMatch(new PatternReader(source).read())
  if (pattern.isTooLarge) throw refusedPattern('expression too large', source)
  return pattern
}

interface PatternFlags {
  i: boolean
  m: boolean
  s: boolean
}

/** Go's limits: repetitions, also of one in another, and groups in groups (regexp/syntax maxSize, maxHeight). */
const MAX_REPEAT = 1000
const MAX_DEPTH = 1000

const isWord = (point: number | undefined): boolean => point !== undefined && namedClass('w')(point)
const NEWLINE = 10

const atBegin: PatternPart = { kind: 'edge', holds: (before) => before === undefined }
const atEnd: PatternPart = { kind: 'edge', holds: (_before, after) => after === undefined }
const atLineBegin: PatternPart = { kind: 'edge', holds: (before) => before === undefined || before === NEWLINE }
const atLineEnd: PatternPart = { kind: 'edge', holds: (_before, after) => after === undefined || after === NEWLINE }
const atWordEdge: PatternPart = { kind: 'edge', holds: (before, after) => isWord(before) !== isWord(after) }
const insideWord: PatternPart = { kind: 'edge', holds: (before, after) => isWord(before) === isWord(after) }

const EDGES: Readonly<Record<string, PatternPart>> = { A: atBegin, z: atEnd, b: atWordEdge, B: insideWord }
const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 }

/** Reads an expression from its left to its right. */
class PatternReader {
  readonly #source: string
  #at = 0
  #depth = 0
  #flags: PatternFlags = { i: false, m: false, s: false }

  constructor(source: string) {
    this.#source = source
  }

  read(): PatternPart {
    const part = this.#choice()
    if (this.#at < this.#source.length) throw refusedPattern('unexpected )', this.#source)
    checkRepeats(part, 1, this.#source)
    return part
  }

  #choice(): PatternPart {
    const parts = [this.#sequence()]
    while (this.#take(/\|/y)) parts.push(this.#sequence())
    return parts.length === 1 ? parts[0]! : { kind: 'choice', parts }
  }

  #sequence(): PatternPart {
    const parts: PatternPart[] = []
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at]!)) {
      const part = this.#atom()
      if (part) parts.push(this.#repeated(part))
    }
    return { kind: 'sequence', parts }
  }

  /** Undefined for flags alone, which are no part. */
  #atom(): PatternPart | undefined {
    const operator = this.#take(/[*+?]|\{\d+(?:,\d*)?\}/y)
    if (operator) throw refusedPattern('missing argument to repetition operator', operator[0])
    if (this.#take(/\(/y)) return this.#group()
    if (this.#take(/\^/y)) return this.#flags.m ? atLineBegin : atBegin
    if (this.#take(/\$/y)) return this.#flags.m ? atLineEnd : atEnd
    if (this.#take(/\./y)) {
      const { s } = this.#flags
      return { kind: 'one', accepts: (point) => s || point !== NEWLINE }
    }
    if (this.#source[this.#at] === '[') return this.#class()
    const quoted = this.#take(/\\Q([^]*?)(?:\\E|$)/y)
    if (quoted) return { kind: 'sequence', parts: Array.from(quoted[1]!, (one) => this.#literal(one.codePointAt(0)!)) }
    const edge = this.#take(/\\([AzbB])/y)
    if (edge) return EDGES[edge[1]!]
    return this.#character()
  }

  #group(): PatternPart | undefined {
    const outer = this.#flags
    const from = this.#at - 1
    const name = this.#take(/\?P?<([^>]*)>/y)
    if (name && !/^\w+$/.test(name[1]!)) throw refusedPattern('invalid named capture', `(${name[0]}`)
    const flags = name ? undefined : this.#take(/\?([imsU]*)(?:-([imsU]+))?([:)])/y)
    if (!name && !flags && this.#source[this.#at] === '?')
      throw refusedPattern('invalid or unsupported Perl syntax', this.#source.slice(from, from + 3))
    if (flags) this.#flags = flagsAfter(outer, flags[1]!, flags[2] ?? '')
    if (flags?.[3] === ')') return undefined
    this.#depth += 1
    if (this.#depth > MAX_DEPTH) throw refusedPattern('expression nests too deeply', this.#source)
    const part = this.#choice()
    this.#depth -= 1
    if (!this.#take(/\)/y)) throw refusedPattern('missing closing )', this.#source)
    this.#flags = outer
    return part
  }

  #repeated(part: PatternPart): PatternPart {
    const from = this.#at
    const operator = this.#take(REPEAT)
    if (!operator) return part
    const more = this.#take(REPEAT)
    if (more) throw refusedPattern('invalid nested repetition operator', this.#source.slice(from, this.#at))
    const [written, sign, least, range, most] = operator
    const min = sign === undefined ? Number(least) : sign === '+' ? 1 : 0
    const max =
      sign === '?' ? 1 : sign !== undefined ? Infinity : range === undefined ? min : most ? Number(most) : Infinity
    if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT) || max < min)
      throw refusedPattern('invalid repeat count', written)
    return { kind: 'repeat', part, min, max }
  }

  #class(): PatternPart {
    const from = this.#at
    const open = this.#take(/\[(\^?)/y)!
    const sets: CharacterSet[] = []
    for (let isFirst = true; isFirst || this.#source[this.#at] !== ']'; isFirst = false) {
      if (this.#at >= this.#source.length) throw refusedPattern('missing closing ]', this.#source.slice(from))
      sets.push(this.#classMember())
    }
    this.#at += 1
    return classPart(sets, { isNegated: open[1] === '^', ignoresCase: this.#flags.i })
  }

  #classMember(): CharacterSet {
    const posix = this.#take(/\[:(\^?)(\w+):\]/y)
    if (posix) {
      const set = namedClass(posix[2]!, posix[0])
      return posix[1] === '^' ? (point) => !set(point) : set
    }
    const known = this.#knownSet()
    if (known) return known
    const from = this.#at
    const low = this.#point()
    if (!this.#take(/-(?!\]|$)/y)) return (point) => point === low
    const high = this.#point()
    if (high < low) throw refusedPattern('invalid character class range', this.#source.slice(from, this.#at))
    return (point) => point >= low && point <= high
  }

  /** `\d`, `\S`, `\pL`, `\P{Greek}` */
  #knownSet(): CharacterSet | undefined {
    const found = this.#take(/\\([dDsSwW])|\\([pP])(?:\{(\^?)([^}]*)\}|(\p{L}))/uy)
    if (!found) return undefined
    const [written, perl, unicode, isNot, long, short] = found
    const set = perl === undefined ? namedClass(`p{${long ?? short!}}`, written) : namedClass(perl.toLowerCase())
    const isNegated = perl === undefined ? (unicode === 'P') !== (isNot === '^') : perl !== perl.toLowerCase()
    return isNegated ? (point) => !set(point) : set
  }

  #character(): PatternPart {
    const known = this.#knownSet()
    return known ? classPart([known], { isNegated: false, ignoresCase: false }) : this.#literal(this.#point())
  }

  #literal(wanted: number): PatternPart {
    if (!this.#flags.i) return { kind: 'one', accepts: (point) => point === wanted }
    return classPart([(point) => point === wanted], { isNegated: false, ignoresCase: true })
  }

  /** One character, which may be escaped. */
  #point(): number {
    const plain = this.#take(/[^\\]/uy)
    if (plain) return plain[0].codePointAt(0)!
    const number = this.#take(/\\(?:x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]{1,6})\}|(0[0-7]{0,2}|[1-7][0-7]{1,2}))/y)
    if (number) return Number.parseInt(number[1] ?? number[2] ?? number[3]!, number[3] === undefined ? 16 : 8)
    const control = this.#take(/\\([aftnrv])/y)
    if (control) return CONTROLS[control[1]!]!
    const escaped = this.#take(/\\([!-/:-@[-`{-~])/y)
    if (escaped) return escaped[1]!.codePointAt(0)!
    const part = this.#source.slice(this.#at, this.#at + 2)
    if (part === '\\') throw refusedPattern('trailing backslash at end of expression', '')
    throw refusedPattern('invalid escape sequence', part)
  }

  #take(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#at
    const found = sticky.exec(this.#source) ?? undefined
    if (found) this.#at += found[0].length
    return found
  }
}

/** Sign, or the least and the most of `{2,5}`; a question mark behind it changes no answer. */
const REPEAT = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y

function flagsAfter(outer: PatternFlags, on: string, off: string): PatternFlags {
  const flags = { ...outer }
  for (const flag of ['i', 'm', 's'] as const) {
    if (on.includes(flag)) flags[flag] = true
    if (off.includes(flag)) flags[flag] = false
  }
  return flags
}

/** Refuses repetitions in repetitions that come to more than one may. */
function checkRepeats(part: PatternPart, times: number, source: string): void {
  if (part.kind === 'one' || part.kind === 'edge') return
  if (part.kind !== 'repeat') {
    for (const each of part.parts) checkRepeats(each, times, source)
    return
  }
  const most = times * Math.max(1, part.max === Infinity ? part.min : part.max)
  if (most > MAX_REPEAT) throw refusedPattern('invalid repeat count', source)
  checkRepeats(part.part, most, source)
}
