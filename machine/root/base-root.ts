import { releaseAccounts, type AccountsRelease } from './release-accounts.js'
import { newDirectory, newFile, newLink, RootTree } from './root-tree.js'

const DIRECTORIES: Record<string, number> = {
  '/boot': 0o755,
  '/dev': 0o755,
  '/etc': 0o755,
  '/etc/default': 0o755,
  '/etc/skel': 0o755,
  '/etc/systemd': 0o755,
  '/etc/systemd/system': 0o755,
  '/etc/systemd/system/multi-user.target.wants': 0o755,
  '/proc': 0o555,
  '/run': 0o755,
  '/sys': 0o555,
  '/tmp': 0o1777,
  '/usr': 0o755,
  '/usr/bin': 0o755,
  '/usr/lib': 0o755,
  '/usr/lib/systemd': 0o755,
  '/usr/lib/systemd/system': 0o755,
  '/usr/lib64': 0o755,
  '/usr/sbin': 0o755,
  '/var': 0o755,
  '/var/home': 0o755,
  '/var/lib': 0o755,
  '/var/log': 0o755,
  '/var/mnt': 0o755,
  '/var/opt': 0o755,
  '/var/roothome': 0o700,
  '/var/spool': 0o755,
  '/var/spool/mail': 0o775,
  '/var/srv': 0o755,
  '/var/tmp': 0o1777,
  '/var/usrlocal': 0o755,
  '/var/usrlocal/bin': 0o755,
  '/var/usrlocal/etc': 0o755,
}

const LINKS: Record<string, string> = {
  '/bin': 'usr/bin',
  '/home': 'var/home',
  '/lib': 'usr/lib',
  '/lib64': 'usr/lib64',
  '/mnt': 'var/mnt',
  '/opt': 'var/opt',
  '/root': 'var/roothome',
  '/sbin': 'usr/sbin',
  '/srv': 'var/srv',
  '/usr/bin/sh': 'bash',
  '/usr/local': '../var/usrlocal',
  '/var/mail': 'spool/mail',
  '/etc/systemd/system/multi-user.target.wants/sshd.service': '/usr/lib/systemd/system/sshd.service',
}

const FILES: Record<string, [mode: number, text: string]> = {
  '/etc/subuid': [0o644, ''],
  '/etc/subgid': [0o644, ''],
  '/etc/nsswitch.conf': [0o644, 'passwd: files altfiles systemd\ngroup: files altfiles systemd\nshadow: files\n'],
  '/etc/login.defs': [
    0o644,
    [
      'MAIL_DIR /var/spool/mail',
      'UMASK 022',
      'HOME_MODE 0700',
      'USERGROUPS_ENAB yes',
      'CREATE_HOME yes',
      'PASS_MAX_DAYS 99999',
      'PASS_MIN_DAYS 0',
      'PASS_WARN_AGE 7',
      'ENCRYPT_METHOD SHA512',
      'UID_MIN 1000',
      'UID_MAX 60000',
      'SYS_UID_MIN 201',
      'SYS_UID_MAX 999',
      'GID_MIN 1000',
      'GID_MAX 60000',
      'SYS_GID_MIN 201',
      'SYS_GID_MAX 999',
      'SUB_UID_MIN 100000',
      'SUB_UID_MAX 600100000',
      'SUB_UID_COUNT 65536',
      'SUB_GID_MIN 100000',
      'SUB_GID_MAX 600100000',
      'SUB_GID_COUNT 65536',
      '',
    ].join('\n'),
  ],
  '/etc/default/useradd': [
    0o600,
    'GROUP=100\nHOME=/var/home\nINACTIVE=-1\nEXPIRE=\nSHELL=/bin/bash\nSKEL=/etc/skel\nCREATE_MAIL_SPOOL=yes\n',
  ],
  '/etc/skel/.bash_logout': [0o644, '# ~/.bash_logout\n'],
  '/etc/skel/.bash_profile': [0o644, '# .bash_profile\n[ -f ~/.bashrc ] && . ~/.bashrc\n'],
  '/etc/skel/.bashrc': [0o644, '# .bashrc\n'],
  '/usr/bin/bash': [0o755, ''],
  '/usr/sbin/nologin': [0o755, ''],
  '/usr/lib/systemd/system/sshd.service': [
    0o644,
    '[Unit]\nDescription=OpenSSH server daemon\n[Service]\nExecStart=/usr/sbin/sshd -D\n[Install]\nWantedBy=multi-user.target\n',
  ],
}

/** Account files: root and a few groups are in /etc, where tools change them; all others in /usr/lib, which is read-only. */
function accountFiles(release: AccountsRelease): typeof FILES {
  const { users, groups, etcGroups, root } = releaseAccounts(release)
  const rows = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
  return {
    '/etc/passwd': [0o644, rows([root])],
    '/etc/shadow': [0o000, rows(['root:*:18367:0:99999:7:::'])],
    '/etc/group': [0o644, rows(etcGroups)],
    '/etc/gshadow': [0o000, rows(etcGroups.map((row) => `${row.split(':')[0]}:::`))],
    '/usr/lib/passwd': [0o644, rows(users)],
    '/usr/lib/group': [0o644, rows(groups)],
  }
}

/**
 * Root filesystem of an installed CoreOS before Ignition runs, as far as Ignition, the user tools and systemd read it:
 * the folders that ostree links into `/var`, accounts with their tools' settings, an enabled unit.
 */
export function baseRoot(release: AccountsRelease): RootTree {
  const tree = new RootTree()
  for (const [path, mode] of Object.entries(DIRECTORIES)) tree.put(path, newDirectory({ mode }))
  tree.put('/var/spool/mail', newDirectory({ mode: 0o775, gid: 12 }))
  for (const [path, target] of Object.entries(LINKS)) tree.put(path, newLink(target))
  const files = { ...FILES, ...accountFiles(release) }
  for (const [path, [mode, text]] of Object.entries(files)) tree.put(path, newFile(Buffer.from(text), { mode }))
  return tree
}
