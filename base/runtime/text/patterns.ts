/** A text as part of a regular expression, which matches exactly it. */
export const literalPattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** A pattern of OpenSSH and of shells, where `*` is any text and `?` any character; matches whole texts. */
export const wildcardPattern = (pattern: string): RegExp =>
  new RegExp(`^${literalPattern(pattern).replaceAll('\\*', '.*').replaceAll('\\?', '.')}$`, 's')
