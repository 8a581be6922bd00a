import { ONLY_NAMED, ROWS, type BenchmarkName } from './rows.js'

export interface Arguments {
  names: readonly BenchmarkName[]
  /** True if the run is kept in the history. */
  history: boolean
  /** True if tables are printed as Markdown. */
  markdown: boolean
}

/** An argument that means nothing; the message says what may stand there. */
export class WrongArgument extends Error {}

export const USAGE = `npm run bench [-- NAME ... --history --markdown]

Without names: all but ${ONLY_NAMED.join(', ')}, which run only when they are named.
--history   keeps the figures in bench/history.ndjson, with which each later run on the same machine is compared
--markdown  prints tables as Markdown

${Object.entries(ROWS)
  .map(([name, rows]) => `${name}\n${rows.map((row) => `  ${row}\n`).join('')}`)
  .join('')}`

const OPTIONS = ['--history', '--markdown']

/** @throws WrongArgument for a name or an option that does not exist */
export function parseArguments(argv: readonly string[]): Arguments {
  const names = new Set<BenchmarkName>()
  for (const argument of argv)
    if (argument.startsWith('-')) {
      if (!OPTIONS.includes(argument))
        throw new WrongArgument(`there is no option ${argument}; there are ${[...OPTIONS, '--help'].join(', ')}`)
    } else if (isName(argument)) names.add(argument)
    else throw new WrongArgument(`there is no benchmark ${argument}; there are ${ALL.join(', ')}`)
  return {
    names: names.size > 0 ? [...names] : ALL.filter((name) => !ONLY_NAMED.includes(name)),
    history: argv.includes('--history'),
    markdown: argv.includes('--markdown'),
  }
}

const ALL = Object.keys(ROWS) as BenchmarkName[]

const isName = (argument: string): argument is BenchmarkName => Object.hasOwn(ROWS, argument)
