import fc from 'fast-check'

const names = fc.constantFrom('a', 'b', 'c', 'deep', 'x.conf', 'home', 'etc', 'skel')
const roots = fc.constantFrom('/etc', '/opt', '/var/lib', '/home', '/root', '/usr/local', '/srv/www')
const paths = fc
  .tuple(roots, fc.array(names, { minLength: 1, maxLength: 3 }))
  .map(([root, more]) => [root, ...more].join('/'))
const existing = fc.constantFrom('/etc/motd', '/etc/skel/.bashrc', '/etc/systemd', '/home', '/etc/nsswitch.conf')
const anyPath = fc.oneof({ weight: 9, arbitrary: paths }, { weight: 1, arbitrary: existing })

const owner = fc.oneof(
  fc.record({ id: fc.constantFrom(0, 5, 1000) }),
  fc.record({ name: fc.constantFrom('root', 'bin', 'core') }),
)
const ownedGroup = fc.oneof(
  fc.record({ id: fc.constantFrom(0, 5, 1000) }),
  fc.record({ name: fc.constantFrom('root', 'wheel', 'core') }),
)
const contents = fc.string({ maxLength: 30 }).map((text) => ({
  source: `data:;base64,${Buffer.from(text).toString('base64')}`,
}))
const node = { path: anyPath, overwrite: fc.boolean(), user: owner, group: ownedGroup }
const some = { requiredKeys: ['path'] as const }
const mode = fc.constantFrom(0o600, 0o644, 0o755, 0o400, 0o777, 0)

const file = fc.record(
  { ...node, mode, contents, append: fc.array(contents, { maxLength: 2 }) },
  { requiredKeys: ['path', 'contents'] },
)
const directory = fc.record({ ...node, mode }, { requiredKeys: [...some.requiredKeys] })
const link = fc.record(
  { ...node, target: fc.oneof(paths, fc.constantFrom('a', '../b', '/etc/passwd')), hard: fc.constant(false) },
  { requiredKeys: ['path', 'target'] },
)

const userNames = fc.constantFrom('core', 'alice', 'bob', 'svc', 'root')
const groupNames = fc.constantFrom('app', 'team', 'wheel', 'ops')
const user = fc.record(
  {
    name: userNames,
    passwordHash: fc.constantFrom('', '$6$salt$hash', '*'),
    sshAuthorizedKeys: fc.uniqueArray(fc.constantFrom('ssh-rsa A', 'ssh-ed25519 B c@d'), { maxLength: 2 }),
    uid: fc.constantFrom(1000, 1001, 2500, 300),
    gecos: fc.constantFrom('', 'Somebody'),
    homeDir: fc.constantFrom('/srv/h', '/var/home/other'),
    noCreateHome: fc.boolean(),
    primaryGroup: fc.constantFrom('users', 'wheel'),
    groups: fc.uniqueArray(fc.constantFrom('wheel', 'adm', 'users', 'mail'), { maxLength: 2 }),
    noUserGroup: fc.boolean(),
    system: fc.boolean(),
    shell: fc.constantFrom('/bin/sh', '/bin/bash'),
  },
  { requiredKeys: ['name'] },
)
const group = fc.record(
  { name: groupNames, gid: fc.constantFrom(1000, 1001, 3000), passwordHash: fc.constant('pw'), system: fc.boolean() },
  { requiredKeys: ['name'] },
)

const unit = fc.record(
  {
    name: fc.constantFrom('a.service', 'b.socket', 'c.timer', 'sshd.service'),
    enabled: fc.boolean(),
    mask: fc.boolean(),
    contents: fc.constantFrom(
      '[Service]\nExecStart=/bin/true\n',
      '[Unit]\nDescription=x\n[Install]\nWantedBy=multi-user.target\n',
    ),
    dropins: fc.uniqueArray(
      fc.record({
        name: fc.constantFrom('10-a.conf', '20-b.conf'),
        contents: fc.constant('[Unit]\nAfter=b.service\n'),
      }),
      { selector: ({ name }) => name, maxLength: 2 },
    ),
  },
  { requiredKeys: ['name'] },
)

const byPath = { selector: ({ path }: { path: string }) => path }
const byName = { selector: ({ name }: { name: string }) => name }

/** Configs that mostly are taken, on a few paths and names, so that what is in them meets. */
export const configs = fc
  .record({
    version: fc.constantFrom('3.0.0', '3.2.0', '3.4.0', '3.6.0'),
    nodes: fc.uniqueArray(
      fc.oneof(
        file.map((value) => ({ kind: 'files' as const, path: value.path, value })),
        directory.map((value) => ({ kind: 'directories' as const, path: value.path, value })),
        link.map((value) => ({ kind: 'links' as const, path: value.path, value })),
      ),
      { ...byPath, maxLength: 6 },
    ),
    users: fc.uniqueArray(user, { ...byName, maxLength: 3 }),
    groups: fc.uniqueArray(group, { ...byName, maxLength: 2 }),
    units: fc.uniqueArray(unit, { ...byName, maxLength: 3 }),
  })
  .map(({ version, nodes, users, groups, units }) => ({
    ignition: { version },
    storage: Object.fromEntries(
      (['files', 'directories', 'links'] as const).map((kind) => [
        kind,
        nodes.filter((one) => one.kind === kind).map(({ value }) => value),
      ]),
    ),
    passwd: { users, groups },
    systemd: { units },
  }))
