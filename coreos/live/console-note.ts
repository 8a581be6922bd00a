import { parseConsole } from './console.js'

const NOTE_WIDTH = 80

/** Names of the options in the note. */
export interface ConsoleOptionNames {
  /** `--append-karg` */
  karg: string
  /** `--console` */
  console: string
}

/**
 * coreos-installer's note for a user who sets consoles by kernel arguments only, which does not set GRUB's; undefined
 * when it does not apply. Blank lines around it, 80 columns, no line break between quotation marks.
 */
export function consoleNote(append: readonly string[], options: ConsoleOptionNames): string | undefined {
  const specs = append
    .filter((argument) => argument.startsWith('console='))
    .map((argument) => argument.slice('console='.length))
  if (specs.length === 0 || specs.some((spec) => !parseConsole(spec))) return undefined
  const quoted = (words: string[]) => `"${words.join(' ')}"`
  const words = [
    ...'Note: consider using'.split(' '),
    quoted(specs.map((spec) => `${options.console} ${spec}`)),
    ...'instead of'.split(' '),
    quoted(specs.map((spec) => `${options.karg} console=${spec}`)),
    ...'to configure both kernel and bootloader consoles.'.split(' '),
  ]
  return `\n${wrapNote(words).join('\n')}\n`
}

/**
 * Breaks lines greedily. coreos-installer 0.27.0 builds textwrap 0.16 without its default features, and optimal breaks
 * need its feature `smawk`.
 */
function wrapNote(words: readonly string[]): string[] {
  const lines: string[] = []
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`
    if (lines.length > 0 && width(longer) <= NOTE_WIDTH) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

/** Columns as textwrap counts them without `unicode-width`: two from U+1100 on. */
const width = (text: string): number =>
  [...text].reduce((sum, letter) => sum + (letter.codePointAt(0)! < 0x1100 ? 1 : 2), 0)
