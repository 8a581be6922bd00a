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
  const isUser = kind === 'user'
  const local = isUser ? files.accounts().map(({ uid }) => uid) : files.groups().map(({ gid }) => gid)
  const known = isUser ? files.knownAccounts().map(({ uid }) => uid) : files.knownGroups().map(({ gid }) => gid)
  // Neighbours of the accounts in /etc are tried first; whether one is free is asked of the whole system.
  const used = local.filter((number) => number >= low && number <= high)
  const isFree = (number: number) => number >= low && number <= high && !known.includes(number)
  if (preferred !== undefined && isFree(preferred)) return preferred
  const next = system ? Math.min(high + 1, ...used) - 1 : Math.max(low - 1, ...used) + 1
  if (isFree(next)) return next
  if (system) {
    for (let number = high; number >= low; number--) if (isFree(number)) return number
    return undefined
  }
  for (let number = low; number <= high; number++) if (isFree(number)) return number
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
