/**
 * True if a path is one of a pattern, or below it.
 *
 * @param pattern of parts, in which a star is any part: `/Systems`, a star, `/Storage`
 */
export function isAtOrBelow(path: string, pattern: string): boolean {
  const parts = path.replace(/\/+$/, '').split('/')
  return pattern.split('/').every((part, at) => (part === '*' ? parts[at] !== undefined : part === parts[at]))
}
