/**
 * Percentage of the image that the installer has read, from a line of its output; undefined for other lines and while it
 * does not know the length. On a terminal the line starts with `> ` and ends in blanks
 * (recordings coreos-installer/ok-xz and ok-xz-pty).
 */
export function progressPercent(line: string): number | undefined {
  const percent = /^(?:> )?Read disk \S+ \S+\/\S+ \S+ \((\d+)%\)\s*$/.exec(line)?.[1]
  return percent === undefined ? undefined : Number(percent)
}
