/** A path without doubled slashes, `.` and `..`, as Go's path.Clean makes it; `.` for an empty one. */
export function cleanPath(path: string): string {
  const rooted = path.startsWith('/')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (!rooted) parts.push(part)
  }
  return `${rooted ? '/' : ''}${parts.join('/')}` || '.'
}

/** What is wrong with a path that must be there, absolute and simple; null for a good one. */
export function pathFault(path: string | undefined): string | null {
  if (!path) return 'path not specified'
  if (!path.startsWith('/')) return 'path not absolute'
  return cleanPath(path) === path ? null : 'path is not fully simplified'
}

/** The last dot of a name and what follows it, empty without one; a slash begins a new name. */
export const extension = (name: string): string => /\.[^./]*$/.exec(name)?.[0] ?? ''
