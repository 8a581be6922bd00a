/** Control characters, those that turn the direction of a text, and halves of characters. */
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/**
 * Text with a sign in place of what cannot be seen. Hosts and servers choose much of what is shown to people: an escape sequence
 * among it would be obeyed by their terminal.
 */
export const visibleText = (text: string): string => text.replaceAll(UNSEEN, '\ufffd')

/** The same for a place that has one line. */
export const visibleLine = (text: string): string => visibleText(text.replaceAll(/[\r\n\t]+/g, ' '))
