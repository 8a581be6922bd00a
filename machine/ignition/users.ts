import type { SpecConfig, SpecUser } from '../../ignition/index.js'
import type { RootTree } from '../root/root-tree.js'
import type { AccountTools } from './account-tools.js'
import { IgnitionFailure, type IgnitionLog } from './ignition-log.js'
import { joinPath, SYSROOT } from './tree-paths.js'
import { writeAsUser } from './write-as-user.js'

interface UsersWork {
  tree: RootTree
  tools: AccountTools
  log: IgnitionLog
}

type Users = NonNullable<NonNullable<SpecConfig['passwd']>['users']>
type Groups = NonNullable<NonNullable<SpecConfig['passwd']>['groups']>

/** Makes groups and users of a config; existing ones are changed. */
export async function createAccounts(work: UsersWork, { users = [], groups = [] }: NonNullable<SpecConfig['passwd']>) {
  if (groups.length > 0) await work.log.within('ensureGroups', () => ensureGroups(work, groups))
  if (users.length > 0) await work.log.within('ensureUsers', () => ensureUsers(work, users))
}

async function ensureGroups({ tools, log }: UsersWork, groups: Groups): Promise<void> {
  for (const { name = '', gid, passwordHash, shouldExist, system } of groups) {
    const exists = tools.group(name) !== undefined
    const failed = prefixFailures(`failed to configure groups: failed to create group "${name}"`)
    const root = ['--root', SYSROOT]
    if (shouldExist === false) {
      if (exists)
        await failed(() =>
          prefixFailures(`failed to delete group "${name}"`)(() =>
            log.command(`deleting group "${name}"`, ['groupdel', ...root, name], () => tools.groupdel(name)),
          ),
        )
      continue
    }
    const options = [...option('--gid', gid), ...option('--password', passwordHash)]
    const asked = { name, gid, password: passwordHash || undefined, system: system ?? false }
    if (exists)
      await failed(() =>
        log.command(`modifying group "${name}"`, ['groupmod', ...root, ...options, name], () => tools.groupmod(asked)),
      )
    else
      await failed(() =>
        log.command(
          `adding group "${name}"`,
          ['groupadd', ...root, ...options, ...(system ? ['--system'] : []), name],
          () => tools.groupadd(asked),
        ),
      )
  }
}

async function ensureUsers(work: UsersWork, users: Users): Promise<void> {
  const { tools, log } = work
  for (const user of users) {
    const { name = '' } = user
    const failed = prefixFailures(`failed to configure users: failed`)
    await failed(() => ensureUser(work, user), `to create user "${name}"`)
    if (user.shouldExist === false) continue
    if (user.passwordHash !== undefined) {
      const password = user.passwordHash || '*'
      await failed(
        () =>
          log.command(
            `setting password for "${name}"`,
            ['usermod', '--root', SYSROOT, '--password', password, name],
            () => tools.usermod({ name, password }),
          ),
        `to set password for "${name}"`,
      )
    }
    await failed(() => authorizeKeys(work, user), `to add keys to user "${name}"`)
  }
}

async function ensureUser({ tools, log }: UsersWork, user: SpecUser): Promise<void> {
  const { name = '', homeDir, noCreateHome, noUserGroup, system, noLogInit } = user
  const exists = tools.account(name) !== undefined
  const root = ['--root', SYSROOT]
  if (user.shouldExist === false) {
    if (exists)
      await prefixFailures(`failed to delete user "${name}"`)(() =>
        log.command(`deleting user "${name}"`, ['userdel', '--remove', ...root, name], () => tools.userdel(name)),
      )
    return
  }
  const password = user.passwordHash !== undefined ? user.passwordHash || '*' : exists ? undefined : '*'
  const argv = exists
    ? ['usermod', ...root, ...(homeDir ? ['--home', homeDir, '--move-home'] : [])]
    : [
        'useradd',
        ...root,
        ...option('--home-dir', homeDir),
        noCreateHome ? '--no-create-home' : '--create-home',
        ...(noUserGroup ? ['--no-user-group'] : []),
        ...(system ? ['--system'] : []),
        ...(noLogInit ? ['--no-log-init'] : []),
      ]
  argv.push(
    ...option('--password', password),
    ...option('--uid', user.uid),
    ...option('--comment', user.gecos),
    ...option('--gid', user.primaryGroup),
    ...(user.groups?.length ? ['--groups', user.groups.join(',')] : []),
    ...option('--shell', user.shell),
    name,
  )
  const asked = {
    name,
    password,
    uid: user.uid,
    comment: user.gecos || undefined,
    gid: user.primaryGroup || undefined,
    groups: user.groups?.length ? user.groups : undefined,
    shell: user.shell || undefined,
    home: homeDir || undefined,
    createHome: !noCreateHome,
    noUserGroup: noUserGroup ?? false,
    system: system ?? false,
  }
  await log.command(`creating or modifying user "${name}"`, argv, () =>
    exists ? tools.usermod(asked) : tools.useradd(asked),
  )
}

async function authorizeKeys({ tree, tools, log }: UsersWork, { name = '', sshAuthorizedKeys = [] }: SpecUser) {
  if (sshAuthorizedKeys.length === 0) return
  await log.operation(`adding ssh keys to user "${name}"`, () => {
    const account = tools.account(name)
    if (!account) throw new IgnitionFailure(`unable to lookup user "${name}"`)
    const keys = sshAuthorizedKeys.join('\n')
    const path = joinPath(tree, `${account.home}/.ssh/authorized_keys.d/ignition`)
    writeAsUser(tree, path, Buffer.from(keys.endsWith('\n') ? keys : `${keys}\n`), account)
    log.line('info', `wrote ssh authorized keys file for user: ${name}`)
  })
}

/** An option with its value; empty without a value. */
const option = (name: string, value: string | number | undefined): string[] =>
  value === undefined || value === '' ? [] : [name, String(value)]

/** Prefixes a failure with the current work. */
export const prefixFailures =
  (before: string) =>
  async <T>(work: () => T | Promise<T>, more = ''): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof IgnitionFailure)) throw error
      const prefix = `${before}${more === '' ? '' : ` ${more}`}: `
      throw new IgnitionFailure(prefix + error.message, prefix + error.explanation)
    }
  }
