import { errorChain, systemFailure, UserError, userError } from '../../base/runtime/index.js'
import type { Printer } from './output/printer.js'

/** Prints the error as one sentence, its causes, and the remedy. Gives the exit code: 2 for wrong usage, else 1. */
export function reportFailure(error: unknown, stderr: Printer): number {
  const user = userError(error) ?? systemFailure(error)
  const [sentence = '', ...causes] = withoutRepeats(errorChain(user ?? error))
  const { remedy } = user ?? {}
  stderr.lines([
    ...saying('ironstage: ', sentence),
    ...causes.flatMap((cause) => saying('  because: ', cause)),
    ...(remedy === undefined ? [] : saying('  try: ', remedy)),
  ])
  if (!user && error instanceof Error)
    stderr.lines(['  this is a defect of ironstage:', ...linesOf(error.stack ?? '').map((line) => `    ${line}`)])
  return user instanceof UserError && user.kind === 'usage' ? 2 : 1
}

/** Leaves out a cause that the sentence before it has said already. */
function withoutRepeats(chain: readonly string[]): string[] {
  const sentences: string[] = []
  for (const sentence of chain) if (sentences.at(-1)?.includes(sentence) !== true) sentences.push(sentence)
  return sentences
}

/** A sentence behind its label; what a program said in several lines stays below it, where no line is taken for ours. */
function saying(label: string, sentence: string): string[] {
  const [first = '', ...more] = linesOf(sentence)
  return [`${label}${first}`, ...more.map((line) => `    | ${line}`)]
}

const linesOf = (text: string): string[] => text.trimEnd().split(/\r?\n/)
