import { newFile, type RootTree } from '../root/root-tree.js'

export interface Account {
  name: string
  uid: number
  gid: number
  gecos: string
  home: string
  shell: string
}

export interface UnixGroup {
  name: string
  gid: number
  members: string[]
}

type AccountTable = 'passwd' | 'shadow' | 'group' | 'gshadow' | 'subuid' | 'subgid'

/**
 * The account files of a root filesystem as the shadow tools edit them: a changed table is first copied to a file with
 * a dash after its name.
 */
export class AccountFiles {
  readonly #tree: RootTree
  readonly #changed = new Map<AccountTable, string[][]>()

  constructor(tree: RootTree) {
    this.#tree = tree
  }

  has(table: AccountTable): boolean {
    return this.#tree.lstat(`/etc/${table}`) !== undefined
  }

  rows(table: AccountTable): string[][] {
    const changed = this.#changed.get(table)
    if (changed) return changed.map((row) => [...row])
    return parseRows(this.#tree.text(`/etc/${table}`))
  }

  /** Replaces a table; {@link commit} writes it. */
  save(table: AccountTable, rows: string[][]): void {
    this.#changed.set(table, rows)
  }

  append(table: AccountTable, row: string[]): void {
    if (this.has(table)) this.save(table, [...this.rows(table), row])
  }

  /** Removes the rows of a name. */
  drop(table: AccountTable, name: string): void {
    const rows = this.rows(table)
    const left = rows.filter(([first]) => first !== name)
    if (left.length < rows.length) this.save(table, left)
  }

  /** Writes the tables that one run of a tool changed. Every tool takes the lock and leaves its file. */
  commit(): void {
    if (!this.#tree.lstat('/etc/.pwd.lock'))
      this.#tree.put('/etc/.pwd.lock', newFile(new Uint8Array(), { mode: 0o600 }))
    for (const [table, rows] of this.#changed) {
      const path = `/etc/${table}`
      const old = this.#tree.stat(path)
      const owned = old && { mode: old.mode, uid: old.uid, gid: old.gid }
      if (old?.kind === 'file') this.#tree.put(`${path}-`, newFile(old.bytes, owned))
      this.#tree.put(path, newFile(Buffer.from(rows.map((row) => `${row.join(':')}\n`).join('')), owned))
    }
    this.#changed.clear()
  }

  /** The accounts in /etc, which tools can change. */
  accounts(): Account[] {
    return this.rows('passwd').map(toAccount)
  }

  /** The groups in /etc, which tools can change. */
  groups(): UnixGroup[] {
    return this.rows('group').map(toGroup)
  }

  /** All accounts that the system finds: those of /etc, then those of its image. */
  knownAccounts(): Account[] {
    return [...this.accounts(), ...this.#imageRows('passwd').map(toAccount)]
  }

  /** All groups that the system finds: those of /etc, then those of its image. */
  knownGroups(): UnixGroup[] {
    return [...this.groups(), ...this.#imageRows('group').map(toGroup)]
  }

  account(name: string): Account | undefined {
    return this.knownAccounts().find((account) => account.name === name)
  }

  /** A group that the system finds, by name or, as the tools accept too, by number. */
  group(nameOrId: string): UnixGroup | undefined {
    return findGroup(this.knownGroups(), nameOrId)
  }

  /** A group in /etc. `useradd` can make a user a member of no other. */
  localGroup(nameOrId: string): UnixGroup | undefined {
    return findGroup(this.groups(), nameOrId)
  }

  /** Rows that nss-altfiles finds in /usr/lib; none where nsswitch.conf does not name it. */
  #imageRows(table: 'passwd' | 'group'): string[][] {
    const services = new RegExp(`^${table}:(.*)$`, 'm').exec(this.#tree.text('/etc/nsswitch.conf'))?.[1] ?? ''
    return services.split(/\s+/).includes('altfiles') ? parseRows(this.#tree.text(`/usr/lib/${table}`)) : []
  }

  /** A setting of /etc/login.defs or of /etc/default/useradd. */
  setting(name: string, otherwise: string): string {
    const text = `${this.#tree.text('/etc/default/useradd')}\n${this.#tree.text('/etc/login.defs')}`
    const found = new RegExp(`^${name}(?:=|[ \t]+)[ \t]*(.*)$`, 'm').exec(text)?.[1]?.trim()
    return found === undefined || found === '' ? otherwise : found
  }

  /** Adds a user to a group's members, or removes it. */
  member(user: string, group: string, belongs: boolean): void {
    for (const table of ['group', 'gshadow'] as const) {
      const rows = this.rows(table)
      const row = rows.find(([name]) => name === group)
      if (!row) continue
      const members = splitMembers(row[3] ?? '')
      if (members.includes(user) === belongs) continue
      row[3] = (belongs ? [...members, user] : members.filter((member) => member !== user)).join(',')
      this.save(table, rows)
    }
  }
}

const parseRows = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(':'))

const toAccount = ([name = '', , uid = '', gid = '', gecos = '', home = '', shell = '']: string[]): Account => ({
  name,
  uid: Number(uid),
  gid: Number(gid),
  gecos,
  home,
  shell,
})

const toGroup = ([name = '', , gid = '', members = '']: string[]): UnixGroup => ({
  name,
  gid: Number(gid),
  members: splitMembers(members),
})

const findGroup = (groups: readonly UnixGroup[], nameOrId: string): UnixGroup | undefined =>
  groups.find(({ name }) => name === nameOrId) ?? groups.find(({ gid }) => String(gid) === nameOrId)

const splitMembers = (members: string): string[] => members.split(',').filter((member) => member !== '')
