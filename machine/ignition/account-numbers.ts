import type { AccountFiles } from './accounts.js'

type AccountKind = 'user' | 'group'

/**
 * The number of a new account as the shadow tools choose it: for users the one after the highest in use, for system
 * accounts the one below the lowest. A group prefers the number of its user.
 */
export function freeNumber(
  files: AccountFiles,
  kind: AccountKind,
  system: boolean,
  preferred?: number,
): number | undefined {
  const prefix = kind === 'user' ? 'UID' : 'GID'
  const setting = (name: string, otherwise: number) => Number(files.setting(name, String(otherwise)))
  const first = setting(`${prefix}_MIN`, 1000)
  const [low, high] = system
    ? [setting(`SYS_${prefix}_MIN`, 101), setting(`SYS_${prefix}_MAX`, first - 1)]
    : [first, setting(`${prefix}_MAX`, 60000)]
  const numbers = kind === 'user' ? files.accounts().map(({ uid }) => uid) : files.groups().map(({ gid }) => gid)
  const used = new Set(numbers.filter((number) => number >= low && number <= high))
  if (preferred !== undefined && preferred >= low && preferred <= high && !used.has(preferred)) return preferred
  if (system) {
    const next = used.size === 0 ? high : Math.min(...used) - 1
    if (next >= low) return next
    for (let number = high; number >= low; number--) if (!used.has(number)) return number
    return undefined
  }
  const next = used.size === 0 ? low : Math.max(...used) + 1
  if (next <= high) return next
  for (let number = low; number <= high; number++) if (!used.has(number)) return number
  return undefined
}

/** A user's range of subordinate numbers: the first gap that is wide enough. */
export function freeRange(files: AccountFiles, table: 'subuid' | 'subgid'): { start: number; count: number } {
  const prefix = table === 'subuid' ? 'SUB_UID' : 'SUB_GID'
  const count = Number(files.setting(`${prefix}_COUNT`, '65536'))
  let start = Number(files.setting(`${prefix}_MIN`, '100000'))
  const taken = files.rows(table).map(([, from, length]) => ({ from: Number(from), length: Number(length) }))
  for (const { from, length } of taken.sort((a, b) => a.from - b.from)) {
    if (from - start >= count) break
    start = Math.max(start, from + length)
  }
  return { start, count }
}
