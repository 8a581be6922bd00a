/** Limit on the lines of a console. */
const MOST_LINES = 200

/** Adds a line to those of a console; the oldest makes room. */
export function addLine(lines: string[], line: string): void {
  lines.push(line)
  if (lines.length > MOST_LINES) lines.shift()
}
