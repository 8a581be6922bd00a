import type { Conversation } from './conversation.js'
import { LIMITS, tooMuch } from './limits.js'

/**
 * Runs shell text that prints lines `X text` on a target.
 *
 * @returns the lines, split after their first letter; the last one, with the letter `k`, is added here
 */
export async function letteredLines(
  conversation: Conversation,
  text: string,
  doing?: string,
): Promise<{ letter: string; text: string }[]> {
  let lines: { letter: string; text: string }[] = []
  let length = 0
  await conversation.ask(
    () => {
      lines = []
      length = 0
      return `${text}\nprintf 'k\\n'`
    },
    (record) => {
      if (record.kind !== 'line') return false
      length += record.text.length
      if (length > LIMITS.answer)
        throw tooMuch(conversation.name, LIMITS.answer, `while ${doing ?? 'running a script'}`)
      if (record.letter !== 'h') lines.push({ letter: record.letter, text: record.text })
      return record.letter === 'k'
    },
    doing,
  )
  return lines
}
