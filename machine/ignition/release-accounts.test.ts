import { describe, expect, test } from 'vitest'
import { runOurs } from '../../test/kit/first-boot-run.js'
import { baseRoot } from '../root/base-root.js'
import { accountsRelease } from '../root/release-accounts.js'
import { treeOf } from '../root/root-records.js'

const FEDORA = '44.20260707.3.1'
const OPENSHIFT = '418.94.202410090804-0'

/** A first boot with accounts of a config, on the root filesystem of a version. */
async function boot(version: string, passwd: object) {
  const config = JSON.stringify({ ignition: { version: '3.3.0' }, passwd })
  const { tree, failed, journal } = await runOurs(config, version, baseRoot(accountsRelease(version)))
  return { root: treeOf(tree), failed, journal: journal.join('\n') }
}

describe('the accounts of the release', () => {
  test('core can be put into the group docker of Fedora CoreOS', async () => {
    const { root, failed } = await boot(FEDORA, { users: [{ name: 'core', groups: ['docker'] }] })
    expect(failed).toBe(false)
    expect(root.text('/etc/group')).toMatch(/^docker:x:\d+:core$/m)
    expect(root.text('/etc/gshadow')).toMatch(/^docker:::core$/m)
    expect(root.text('/usr/lib/group')).toMatch(/^docker:x:\d+:$/m)
  })

  test.each([
    ['docker', OPENSHIFT],
    ['docker', '9.6.20250826-1'],
    ['users', FEDORA],
    ['users', OPENSHIFT],
    ['ghosts', FEDORA],
  ])('nobody can be put into the group %s of CoreOS %s, which is not in /etc/group', async (group, version) => {
    const { failed, journal } = await boot(version, { users: [{ name: 'core', groups: [group] }] })
    expect(failed).toBe(true)
    expect(journal).toContain(`exit status 6: Cmd: "useradd"`)
    expect(journal).toContain(`useradd: group '${group}' does not exist`)
  })

  test('every missing group is named', async () => {
    const { journal } = await boot(OPENSHIFT, { users: [{ name: 'core', groups: ['docker', 'users'] }] })
    expect(journal).toContain(`useradd: group 'docker' does not exist\\nuseradd: group 'users' does not exist\\n`)
  })

  test('a group of the image can be a primary group, and an account of the image owns files', async () => {
    const files = [{ path: '/etc/x', user: { name: 'etcd' }, group: { name: 'kube' } }]
    const config = JSON.stringify({
      ignition: { version: '3.3.0' },
      passwd: { users: [{ name: 'eve', primaryGroup: 'users' }] },
      storage: { files },
    })
    const { tree, failed } = await runOurs(config, FEDORA, baseRoot('fcos'))
    expect(failed).toBe(false)
    const root = treeOf(tree)
    expect(root.text('/etc/passwd')).toMatch(/^eve:x:1001:100:/m)
    expect(root.lstat('/etc/x')).toMatchObject({ uid: 998, gid: 994 })
  })

  test.each([
    [
      'a user of the image cannot be changed',
      { users: [{ name: 'etcd', shell: '/bin/sh' }] },
      6,
      `usermod: user 'etcd' does not exist in /etc/passwd`,
    ],
    [
      'a user of the image cannot be removed',
      { users: [{ name: 'etcd', shouldExist: false }] },
      1,
      `userdel: cannot remove entry 'etcd' from /etc/passwd`,
    ],
    [
      'a group of the image cannot be changed',
      { groups: [{ name: 'kube', gid: 2000 }] },
      10,
      `groupmod: group 'kube' does not exist in /etc/group`,
    ],
    [
      'a group of the image cannot be removed',
      { groups: [{ name: 'cdrom', shouldExist: false }] },
      10,
      `groupdel: cannot remove entry 'cdrom' from /etc/group`,
    ],
    ['a number of the image is taken', { users: [{ name: 'eve', uid: 74 }] }, 4, 'useradd: UID 74 is not unique'],
    [
      'a group number of the image is taken',
      { groups: [{ name: 'eve', gid: 994 }] },
      4,
      `groupadd: GID '994' already exists`,
    ],
    [
      'a user cannot have the name of a group of the image',
      { users: [{ name: 'kube2' }, { name: 'cdrom' }] },
      9,
      'useradd: group cdrom exists - if you want to add this user to that group, use -g.',
    ],
    [
      'the primary group of a user of the image stays',
      { groups: [{ name: 'adm', shouldExist: false }] },
      8,
      `groupdel: cannot remove the primary group of user 'adm'`,
    ],
    [
      'the number of such a group stays',
      { groups: [{ name: 'adm', gid: 2001 }] },
      10,
      `groupmod: user 'adm' does not exist in /etc/passwd`,
    ],
  ])('%s', async (_, passwd, code, why) => {
    const { failed, journal } = await boot(FEDORA, passwd)
    expect(failed).toBe(true)
    expect(journal).toContain(`exit status ${code}: Cmd:`)
    expect(journal).toContain(why)
  })

  test('a system account gets a number that no account of the image has', async () => {
    const { root } = await boot(FEDORA, { users: [{ name: 'worker', system: true }] })
    // 988 to 999 belong to the image: the first free one below.
    expect(root.text('/etc/passwd')).toMatch(/^worker:x:992:/m)
  })

  test.each([
    ['44.20260707.3.1', 'fcos'],
    ['418.94.202410090804-0', 'rhcos'],
    ['10.2.20260715-0', 'rhcos'],
    ['unknown', 'fcos'],
  ])('CoreOS %s has the accounts of %s', (version, release) => {
    expect(accountsRelease(version)).toBe(release)
  })
})
