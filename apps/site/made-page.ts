/** A page that is made from the program. */
export interface MadePage {
  /** Its address, without a suffix. */
  to: string
  /** Its name in the list of pages. */
  text: string
  markdown: string
}

/** Text in a cell of a table: no line break, no bar that ends it. */
export const cellText = (text: string): string =>
  proseText(text)
    .replace(/\|/g, '\\|')
    .replace(/\s*\n\s*/g, ' ')

/** Text in which no sign is one of Markdown or HTML; parts in backticks stay code. */
export const proseText = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, index) =>
      index % 2 === 0 ? part.replace(/[\\<>*_[\]]/g, '\\$&').replace(/\{\{/g, '{&ZeroWidthSpace;{') : part,
    )
    .join('')

/** Code in a line or a cell. */
export const codeText = (text: string): string => `\`${text.replace(/\|/g, '\\|')}\``
