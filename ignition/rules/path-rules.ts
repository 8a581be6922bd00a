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

/** Ignition's message for a path that is missing, relative or not clean; null for a valid one. */
export function pathFault(path: string | undefined): string | null {
  if (!path) return 'path not specified'
  if (!path.startsWith('/')) return 'path not absolute'
  return cleanPath(path) === path ? null : 'path is not fully simplified'
}

/** Extension of the last name of a path with its dot, as Go's path.Ext; empty without one. */
export const extensionOf = (name: string): string => /\.[^./]*$/.exec(name)?.[0] ?? ''
