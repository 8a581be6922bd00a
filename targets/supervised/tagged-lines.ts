import type { Conversation } from './conversation.js'
import { OUTPUT_LIMITS, tooMuch } from './output-limits.js'

/** A line `X text` that a script printed. */
export interface TaggedLine {
  /** The letter X. */
  tag: string
  text: string
}

/**
 * Runs shell text that prints lines `X text` on a target, where the letter X is the tag of the line.
 *
 * @returns the lines; the last one, with the tag `k`, is added here
 */
export async function taggedLines(conversation: Conversation, text: string, doing?: string): Promise<TaggedLine[]> {
  let lines: TaggedLine[] = []
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
      if (length > OUTPUT_LIMITS.answer)
        throw tooMuch(conversation.name, OUTPUT_LIMITS.answer, `while ${doing ?? 'running a script'}`)
      if (record.tag !== 'h') lines.push({ tag: record.tag, text: record.text })
      return record.tag === 'k'
    },
    doing,
  )
  return lines
}
