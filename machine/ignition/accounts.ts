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
    const lines = this.#tree.text(`/etc/${table}`).split('\n')
    return lines.filter((line) => line !== '').map((line) => line.split(':'))
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

  accounts(): Account[] {
    return this.rows('passwd').map(([name = '', , uid = '', gid = '', gecos = '', home = '', shell = '']) => ({
      name,
      uid: Number(uid),
      gid: Number(gid),
      gecos,
      home,
      shell,
    }))
  }

  groups(): UnixGroup[] {
    return this.rows('group').map(([name = '', , gid = '', members = '']) => ({
      name,
      gid: Number(gid),
      members: splitMembers(members),
    }))
  }

  account(name: string): Account | undefined {
    return this.accounts().find((account) => account.name === name)
  }

  /** A group by name or, as the tools accept too, by number. */
  group(nameOrId: string): UnixGroup | undefined {
    const groups = this.groups()
    return groups.find(({ name }) => name === nameOrId) ?? groups.find(({ gid }) => String(gid) === nameOrId)
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

const splitMembers = (members: string): string[] => members.split(',').filter((member) => member !== '')
