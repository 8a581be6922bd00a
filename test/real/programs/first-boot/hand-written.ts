const data = (text: string) => ({ source: `data:,${encodeURIComponent(text)}` })
const v = (version: string, rest: object) => ({ ignition: { version }, ...rest })
const service = '[Unit]\nDescription=x\n[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n'
const gzipped = { source: 'data:;base64,H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==', compression: 'gzip' }
const sha256 = 'sha256-2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'

/** Hand-written cases, some of which fail. */
export const HAND_WRITTEN: Record<string, object> = {
  nothing: v('3.0.0', {}),
  'a user with keys, as every deployment has': v('3.2.0', {
    passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA a@b', 'ssh-rsa BBBB'] }] },
  }),
  'files with modes, owners and appended parts': v('3.3.0', {
    storage: {
      files: [
        { path: '/etc/motd', mode: 0o600, contents: data('hello') },
        { path: '/opt/deep/er/file', contents: data('x'), user: { id: 1000 }, group: { name: 'wheel' } },
        { path: '/etc/issue.d/a', append: [data('one\n'), data('two\n')] },
        { path: '/etc/skel/.bashrc', append: [data('more')], mode: 0o640 },
        { path: '/etc/nsswitch.conf', overwrite: true, contents: data('passwd: files\ngroup: files\n') },
        { path: '/etc/empty' },
      ],
    },
  }),
  'gzip and a hash': v('3.1.0', {
    storage: {
      files: [
        { path: '/etc/a', contents: gzipped },
        { path: '/etc/b', contents: { ...data('hello'), verification: { hash: sha256 } } },
      ],
    },
  }),
  'a wrong hash': v('3.1.0', {
    storage: { files: [{ path: '/etc/b', contents: { ...data('hallo'), verification: { hash: sha256 } } }] },
  }),
  'what is no gzip': v('3.1.0', {
    storage: { files: [{ path: '/etc/b', contents: { ...data('hallo'), compression: 'gzip' } }] },
  }),
  'a file that is there': v('3.0.0', { storage: { files: [{ path: '/etc/passwd', contents: data('x') }] } }),
  'a link where a file is to be': v('3.0.0', { storage: { files: [{ path: '/home', contents: data('x') }] } }),
  'a folder over a link': v('3.0.0', { storage: { directories: [{ path: '/home' }] } }),
  'a folder over a link, which may go': v('3.0.0', {
    storage: { directories: [{ path: '/mnt', overwrite: true, mode: 0o700 }] },
  }),
  'below a file': v('3.0.0', { storage: { files: [{ path: '/etc/passwd/x', contents: data('x') }] } }),
  'folders, also those that are there': v('3.0.0', {
    storage: {
      directories: [
        { path: '/etc/systemd', mode: 0o711 },
        { path: '/var/lib/a/b', user: { name: 'bin' } },
      ],
    },
  }),
  'links of both kinds': v('3.4.0', {
    storage: {
      files: [{ path: '/etc/one', contents: data('1') }],
      links: [
        { path: '/etc/soft', target: 'one' },
        { path: '/etc/far/soft', target: '../../nowhere' },
        { path: '/etc/hard', target: '/etc/one', hard: true },
        { path: '/root/absolute', target: '/etc/one', user: { id: 5 }, group: { id: 6 } },
      ],
    },
  }),
  'a link that is there as it should be': v('3.4.0', { storage: { links: [{ path: '/home', target: 'var/./home' }] } }),
  'a link that leads elsewhere': v('3.4.0', { storage: { links: [{ path: '/home', target: '/elsewhere' }] } }),
  'a link where a file is': v('3.4.0', { storage: { links: [{ path: '/etc/passwd', target: '/elsewhere' }] } }),
  'a hard link to nothing': v('3.4.0', { storage: { links: [{ path: '/etc/h', target: '/etc/none', hard: true }] } }),
  'a hard link over a file': v('3.4.0', {
    storage: { links: [{ path: '/etc/group', target: '/etc/passwd', hard: true }] },
  }),
  'a link owned as what it leads to': v('3.4.0', {
    storage: {
      files: [{ path: '/etc/one', contents: data('1'), user: { name: 'bin' }, group: { name: 'mail' } }],
      links: [{ path: '/etc/deep/er/two', target: '../../one' }],
    },
  }),
  'two paths that are one': v('3.0.0', {
    storage: {
      files: [
        { path: '/home/a', contents: data('1') },
        { path: '/var/home/a', contents: data('2') },
      ],
    },
  }),
  'setuid before it was honoured': v('3.5.0', {
    storage: { files: [{ path: '/etc/s', mode: 0o4755, contents: data('') }] },
  }),
  'setuid, setgid and sticky': v('3.6.0', {
    storage: {
      files: [{ path: '/etc/s', mode: 0o6755, contents: data(''), user: { id: 3 } }],
      directories: [{ path: '/etc/t', mode: 0o1777 }],
    },
  }),
  'an owner that nobody knows': v('3.0.0', { storage: { files: [{ path: '/etc/x', user: { name: 'ghost' } }] } }),
  'a group that nobody knows': v('3.0.0', {
    storage: { directories: [{ path: '/etc/x', group: { name: 'ghosts' } }] },
  }),
  'users of all kinds': v('3.5.0', {
    passwd: {
      users: [
        { name: 'core', passwordHash: '$6$a$b' },
        { name: 'alice', uid: 1500, gecos: 'Alice', groups: ['wheel', 'adm'], shell: '/bin/sh' },
        { name: 'daemon1', system: true, noCreateHome: true, shell: '/usr/sbin/nologin' },
        { name: 'bob', primaryGroup: 'users', homeDir: '/srv/homes/bob', sshAuthorizedKeys: ['ssh-rsa CCCC'] },
        { name: 'carol', noUserGroup: true, noLogInit: true, passwordHash: '' },
        { name: 'root', passwordHash: '$6$c$d', sshAuthorizedKeys: ['ssh-rsa DDDD'] },
      ],
    },
  }),
  'groups, made and changed': v('3.5.0', {
    passwd: {
      groups: [
        { name: 'app', gid: 2000, passwordHash: 'x1' },
        { name: 'sys1', system: true },
        { name: 'wheel', gid: 11 },
        { name: 'mail', passwordHash: 'p' },
        { name: 'adm', shouldExist: false },
        { name: 'none', shouldExist: false },
        { name: 'later' },
      ],
      users: [{ name: 'core', groups: ['app'] }],
    },
  }),
  'groups only': v('3.5.0', {
    passwd: { groups: [{ name: 'app', gid: 2000 }, { name: 'sys1', system: true }, { name: 'later' }] },
  }),
  'users that go and change': v('3.5.0', {
    passwd: {
      users: [
        { name: 'nobody', shouldExist: false },
        { name: 'root', homeDir: '/var/other', shell: '/bin/sh' },
        { name: 'bin', homeDir: '/var/binhome', shell: '/bin/sh', gecos: 'B', groups: ['users'], uid: 77 },
        { name: 'none', shouldExist: false },
      ],
    },
  }),
  'a user that changes': v('3.5.0', {
    passwd: { users: [{ name: 'nobody', shell: '/bin/sh', gecos: 'N', groups: ['users'], uid: 77, passwordHash: '' }] },
  }),
  'a user in a group that is not there': v('3.0.0', { passwd: { users: [{ name: 'eve', groups: ['ghosts'] }] } }),
  'a primary group that is not there': v('3.0.0', { passwd: { users: [{ name: 'eve', primaryGroup: 'ghosts' }] } }),
  'a number that is taken': v('3.0.0', {
    passwd: {
      users: [
        { name: 'core', uid: 1200 },
        { name: 'eve', uid: 1200 },
      ],
    },
  }),
  'a group number that is taken': v('3.0.0', {
    passwd: {
      groups: [
        { name: 'a', gid: 1200 },
        { name: 'b', gid: 1200 },
      ],
    },
  }),
  'a user called as a group': v('3.0.0', { passwd: { users: [{ name: 'wheel' }] } }),
  'the primary group of somebody': v('3.2.0', { passwd: { groups: [{ name: 'bin', shouldExist: false }] } }),
  'keys without a home': v('3.0.0', {
    passwd: { users: [{ name: 'eve', noCreateHome: true, sshAuthorizedKeys: ['k'] }] },
  }),
  'units, drop-ins and masks': v('3.4.0', {
    systemd: {
      units: [
        { name: 'a.service', enabled: true, contents: service },
        { name: 'b.service', enabled: false, contents: service },
        { name: 'sshd.service', enabled: false },
        { name: 'c.service', mask: true },
        { name: 'd.socket', mask: false },
        { name: 'e.service', dropins: [{ name: '10-a.conf', contents: '[Service]\nX=1\n' }, { name: '20-b.conf' }] },
        { name: 'f.service', contents: service, mask: true },
        { name: 'g.service', contents: '' },
      ],
    },
  }),
  'a masked unit that is unmasked': v('3.4.0', {
    storage: { links: [{ path: '/etc/systemd/system/u.service', target: '/dev/null' }] },
    systemd: { units: [{ name: 'u.service', mask: false }] },
  }),
  'a merged config': v('3.4.0', {
    ignition: {
      version: '3.4.0',
      config: {
        merge: [
          {
            source: `data:,${encodeURIComponent(JSON.stringify(v('3.1.0', { storage: { files: [{ path: '/etc/m', contents: data('m') }] } })))}`,
          },
        ],
      },
    },
    storage: { files: [{ path: '/etc/own', contents: data('o') }] },
  }),
  'a replaced config': {
    ignition: {
      version: '3.4.0',
      config: {
        replace: {
          source: `data:,${encodeURIComponent(JSON.stringify(v('3.1.0', { storage: { files: [{ path: '/etc/m', contents: data('m') }] } })))}`,
        },
      },
    },
    storage: { files: [{ path: '/etc/own', contents: data('o') }] },
  },
  'a config that is none': { ignition: { version: '3.4.0' }, storage: { files: [{ path: 'relative' }] } },
}
