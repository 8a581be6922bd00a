/** Limit on the lines of a console. */
const MAX_CONSOLE_LINES = 200

/** Adds a line to those of a console; the oldest makes room. */
export function addLine(lines: string[], line: string): void {
  lines.push(line)
  if (lines.length > MAX_CONSOLE_LINES) lines.shift()
}
