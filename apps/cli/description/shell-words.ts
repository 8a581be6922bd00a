import type { DescribedCommand } from './command-tree.js'

/** A word of a shell: bash, zsh and fish read it as it is. */
export const shellQuoted = (text: string): string => `'${text.replace(/'/g, "'\\''")}'`

/** Words that can follow a command: the words of those below it, its options, and `--help`. */
export const shellWords = ({ below, options }: DescribedCommand): string[] => [
  ...below.map(({ path }) => path.at(-1)!),
  ...options.flatMap(({ flag, short }) => (short === undefined ? [flag] : [flag, short])),
  '--help',
]

/** The first part of a description, without the variable that stands at its end. */
export const shortText = (description: string): string => description.replace(/ \(IRONSTAGE_[^)]*\)$/, '')
