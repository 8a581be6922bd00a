import type { RootTree } from '../root/root-tree.js'
import { AccountFiles, type Account, type UnixGroup } from './accounts.js'
import { freeNumber, freeRange } from './account-numbers.js'
import { createHome, createMailbox, removeHome, changeOwner } from './homes.js'
import type { LoggedResult } from './ignition-log.js'

/** Options of `useradd` and `usermod` that Ignition uses. */
export interface UserOptions {
  name: string
  uid?: number | undefined
  gid?: string | undefined
  groups?: readonly string[] | undefined
  home?: string | undefined
  shell?: string | undefined
  comment?: string | undefined
  password?: string | undefined
  createHome?: boolean
  noUserGroup?: boolean
  system?: boolean
}

export interface GroupOptions {
  name: string
  gid?: number | undefined
  password?: string | undefined
  system?: boolean
}

const TOOL_SUCCESS: LoggedResult = { code: 0 }
const ACCOUNT_NAME_PATTERN = /^[a-z_][a-z0-9_-]*\$?$/i

/**
 * The shadow tools on a root filesystem, with their exit codes and messages: `useradd`, `usermod`, `userdel`,
 * `groupadd`, `groupmod`, `groupdel`. Files are written as by 4.13 and later.
 */
export class AccountTools {
  readonly #tree: RootTree
  readonly #today: number

  /** @param today days since the epoch */
  constructor(tree: RootTree, today: number) {
    this.#tree = tree
    this.#today = today
  }

  account = (name: string): Account | undefined => new AccountFiles(this.#tree).account(name)
  group = (name: string): UnixGroup | undefined =>
    new AccountFiles(this.#tree).knownGroups().find((group) => group.name === name)

  useradd(options: UserOptions): LoggedResult {
    const files = new AccountFiles(this.#tree)
    const refuse = (code: number, why: string): LoggedResult => ({ code, stderr: `useradd: ${why}\n` })
    const { name, system = false, groups = [] } = options
    if (!ACCOUNT_NAME_PATTERN.test(name)) return refuse(3, `invalid user name '${name}': use --badname to ignore`)
    if (options.gid !== undefined && !files.group(options.gid))
      return refuse(6, `group '${options.gid}' does not exist`)
    const missing = groups.filter((group) => !files.localGroup(group))
    if (missing.length > 0) return missingGroups('useradd', missing)
    const ownGroup = options.gid === undefined && !options.noUserGroup
    if (ownGroup && files.knownGroups().some((group) => group.name === name))
      return refuse(9, `group ${name} exists - if you want to add this user to that group, use -g.`)
    if (options.uid !== undefined && files.knownAccounts().some(({ uid }) => uid === options.uid))
      return refuse(4, `UID ${options.uid} is not unique`)
    const uid = options.uid ?? freeNumber(files, 'user', system)
    if (uid === undefined) return refuse(4, "can't get unique UID (no more available UIDs)")
    const gid = ownGroup
      ? freeNumber(files, 'group', system, uid)
      : files.group(options.gid ?? files.setting('GROUP', '100'))?.gid
    if (gid === undefined) return refuse(4, "can't get unique GID (no more available GIDs)")
    const home = options.home ?? `${files.setting('HOME', '/home')}/${name}`
    const shell = options.shell ?? files.setting('SHELL', '')
    const account: Account = { name, uid, gid, gecos: options.comment ?? '', home, shell }
    files.append('passwd', passwdRow(account))
    files.append('shadow', this.#shadowRow(files, name, options.password ?? '!', system))
    if (ownGroup) addGroup(files, name, gid, '!')
    for (const group of groups) files.member(name, files.localGroup(group)!.name, true)
    if (!system && uid >= Number(files.setting('UID_MIN', '1000')) && uid <= Number(files.setting('UID_MAX', '60000')))
      for (const table of ['subuid', 'subgid'] as const) {
        const { start, count } = freeRange(files, table)
        files.append(table, [name, String(start), String(count)])
      }
    files.commit()
    if (options.createHome) createHome(this.#tree, files, account)
    if (!system) createMailbox(this.#tree, files, account)
    return TOOL_SUCCESS
  }

  usermod(options: UserOptions): LoggedResult {
    const files = new AccountFiles(this.#tree)
    const refuse = (code: number, why: string): LoggedResult => ({ code, stderr: `usermod: ${why}\n` })
    const { name, uid, gid, groups, home, shell, comment, password } = options
    const old = files.account(name)
    if (!old) return refuse(6, `user '${name}' does not exist`)
    if (gid !== undefined && !files.group(gid)) return refuse(6, `group '${gid}' does not exist`)
    const missing = (groups ?? []).filter((group) => !files.group(group))
    if (missing.length > 0) return missingGroups('usermod', missing)
    if (uid !== undefined && uid !== old.uid && files.knownAccounts().some((other) => other.uid === uid))
      return refuse(4, `UID '${uid}' already exists`)
    if (!files.accounts().some((account) => account.name === name))
      return refuse(6, `user '${name}' does not exist in /etc/passwd`)
    const changed: Account = {
      ...old,
      uid: uid ?? old.uid,
      gid: gid === undefined ? old.gid : files.group(gid)!.gid,
      gecos: comment ?? old.gecos,
      home: home ?? old.home,
      shell: shell ?? old.shell,
    }
    // The real tool always rewrites passwd, as its copy `passwd-` shows.
    files.save(
      'passwd',
      files.rows('passwd').map((row) => (row[0] === name ? passwdRow(changed, row[1]) : row)),
    )
    if (password !== undefined)
      files.save(
        'shadow',
        files
          .rows('shadow')
          .map((row) => (row[0] === name ? [name, password, String(this.#today), ...row.slice(3)] : row)),
      )
    if (groups) {
      const wanted = new Set(groups.map((group) => files.group(group)!.name))
      for (const group of files.groups()) files.member(name, group.name, wanted.has(group.name))
    }
    files.commit()
    return this.#move(old, changed)
  }

  /** Removes a user with home, mailbox and, when it has no other members, the user's own group. */
  userdel(name: string): LoggedResult {
    const files = new AccountFiles(this.#tree)
    const old = files.account(name)
    if (!old) return { code: 6, stderr: `userdel: user '${name}' does not exist\n` }
    if (!files.accounts().some((account) => account.name === name))
      return { code: 1, stderr: `userdel: cannot remove entry '${name}' from /etc/passwd\n` }
    for (const table of ['passwd', 'shadow', 'subuid', 'subgid'] as const) files.drop(table, name)
    for (const group of files.groups()) files.member(name, group.name, false)
    const own = files.groups().find((group) => group.name === name)
    const isPrimary = files.accounts().some((other) => other.gid === own?.gid)
    if (own && own.members.length === 0 && !isPrimary && files.setting('USERGROUPS_ENAB', 'no') === 'yes')
      for (const table of ['group', 'gshadow'] as const) files.drop(table, name)
    files.commit()
    return removeHome(this.#tree, files, old)
  }

  groupadd({ name, gid: wanted, password, system = false }: GroupOptions): LoggedResult {
    const files = new AccountFiles(this.#tree)
    const refuse = (code: number, why: string): LoggedResult => ({ code, stderr: `groupadd: ${why}\n` })
    if (!ACCOUNT_NAME_PATTERN.test(name)) return refuse(3, `'${name}' is not a valid group name`)
    if (files.knownGroups().some((group) => group.name === name)) return refuse(9, `group '${name}' already exists`)
    if (wanted !== undefined && files.knownGroups().some((group) => group.gid === wanted))
      return refuse(4, `GID '${wanted}' already exists`)
    const gid = wanted ?? freeNumber(files, 'group', system)
    if (gid === undefined) return refuse(4, "can't get unique GID (no more available GIDs)")
    addGroup(files, name, gid, password ?? '!')
    files.commit()
    return TOOL_SUCCESS
  }

  groupmod({ name, gid, password }: GroupOptions): LoggedResult {
    const files = new AccountFiles(this.#tree)
    const refuse = (code: number, why: string): LoggedResult => ({ code, stderr: `groupmod: ${why}\n` })
    const old = files.knownGroups().find((group) => group.name === name)
    if (!old) return refuse(6, `group '${name}' does not exist`)
    const isChanged = gid !== undefined && gid !== old.gid
    if (isChanged && files.knownGroups().some((group) => group.gid === gid))
      return refuse(4, `GID '${gid}' already exists`)
    if (!files.groups().some((group) => group.name === name))
      return refuse(10, `group '${name}' does not exist in /etc/group`)
    if (isChanged) {
      const local = new Set(files.accounts().map((account) => account.name))
      const fixed = files.knownAccounts().find((account) => account.gid === old.gid && !local.has(account.name))
      if (fixed) return refuse(10, `user '${fixed.name}' does not exist in /etc/passwd`)
      const changed = (table: 'group' | 'passwd', isOld: (row: string[]) => boolean, column: number) =>
        files.rows(table).map((row) => (isOld(row) ? row.with(column, String(gid)) : row))
      files.save(
        'group',
        changed('group', (row) => row[0] === name, 2),
      )
      if (files.accounts().some((account) => account.gid === old.gid))
        files.save(
          'passwd',
          changed('passwd', (row) => row[3] === String(old.gid), 3),
        )
    }
    if (password !== undefined)
      files.save(
        'gshadow',
        files.rows('gshadow').map((row) => (row[0] === name ? row.with(1, password) : row)),
      )
    files.commit()
    return TOOL_SUCCESS
  }

  groupdel(name: string): LoggedResult {
    const files = new AccountFiles(this.#tree)
    const refuse = (code: number, why: string): LoggedResult => ({ code, stderr: `groupdel: ${why}\n` })
    const old = files.knownGroups().find((group) => group.name === name)
    if (!old) return refuse(6, `group '${name}' does not exist`)
    const user = files.knownAccounts().find(({ gid }) => gid === old.gid)
    if (user) return refuse(8, `cannot remove the primary group of user '${user.name}'`)
    if (!files.groups().some((group) => group.name === name))
      return refuse(10, `cannot remove entry '${name}' from /etc/group`)
    for (const table of ['group', 'gshadow'] as const) files.drop(table, name)
    files.commit()
    return TOOL_SUCCESS
  }

  #shadowRow(files: AccountFiles, name: string, password: string, system: boolean): string[] {
    const ages = ['PASS_MIN_DAYS', 'PASS_MAX_DAYS', 'PASS_WARN_AGE'].map((setting) => files.setting(setting, ''))
    return [name, password, String(this.#today), ...(system ? ['', '', ''] : ages), '', '', '']
  }

  /** Moves the home. A home that is a link is moved as a link, and the tool then does not find its target. */
  #move(old: Account, changed: Account): LoggedResult {
    const refuse = (why: string): LoggedResult => ({ code: 12, stderr: `usermod: ${why}` })
    const home = this.#tree.lstat(old.home)
    if (old.home !== changed.home && home) {
      if (this.#tree.exists(changed.home)) return refuse(`directory ${changed.home} exists\n`)
      this.#tree.remove(old.home)
      this.#tree.put(changed.home, home)
    }
    if (old.uid === changed.uid && old.gid === changed.gid) return TOOL_SUCCESS
    if (home?.kind === 'link') return refuse('Failed to change ownership of the home directory')
    changeOwner(this.#tree, changed.home, old, changed)
    return TOOL_SUCCESS
  }
}

const passwdRow = ({ name, uid, gid, gecos, home, shell }: Account, password = 'x'): string[] => [
  name,
  password,
  String(uid),
  String(gid),
  gecos,
  home,
  shell,
]

/** Failure of a tool that cannot add a user to groups; it names them all. */
const missingGroups = (program: string, groups: readonly string[]): LoggedResult => ({
  code: 6,
  stderr: groups.map((group) => `${program}: group '${group}' does not exist\n`).join(''),
})

function addGroup(files: AccountFiles, name: string, gid: number, password: string): void {
  files.append('group', [name, 'x', String(gid), ''])
  files.append('gshadow', [name, password, '', ''])
}
