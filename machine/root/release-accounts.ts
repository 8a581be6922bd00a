import { systemOfVersion } from '../../coreos/index.js'

/**
 * The system whose accounts a root filesystem has. Images of CentOS Stream CoreOS are built from the same two files as
 * those of RHEL CoreOS.
 */
export type AccountsRelease = 'fcos' | 'rhcos'

/** The account files of an image. */
export interface ReleaseAccounts {
  /** Rows of `/usr/lib/passwd`, which no tool changes. */
  users: readonly string[]
  /** Rows of `/usr/lib/group`. */
  groups: readonly string[]
  /** Rows of `/etc/group`, which are in `/usr/lib/group` too: only to these groups can `useradd` add a member. */
  etcGroups: readonly string[]
  /** The row of root in `/etc/passwd`. */
  root: string
}

/** System of an image's version; Fedora CoreOS for an image that names none. */
export function accountsRelease(version: string): AccountsRelease {
  try {
    return systemOfVersion(version) === 'fcos' ? 'fcos' : 'rhcos'
  } catch {
    return 'fcos'
  }
}

type UserRow = readonly [name: string, uid: number, gid: number, gecos: string, home: string, shell?: string]
type GroupRow = readonly [name: string, gid: number]

/** In both systems. */
const SHARED_USERS: readonly UserRow[] = [
  ['bin', 1, 1, 'bin', '/bin'],
  ['daemon', 2, 2, 'daemon', '/sbin'],
  ['adm', 3, 4, 'adm', '/var/adm'],
  ['lp', 4, 7, 'lp', '/var/spool/lpd'],
  ['sync', 5, 0, 'sync', '/sbin', '/bin/sync'],
  ['shutdown', 6, 0, 'shutdown', '/sbin', '/sbin/shutdown'],
  ['halt', 7, 0, 'halt', '/sbin', '/sbin/halt'],
  ['mail', 8, 12, 'mail', '/var/spool/mail'],
  ['operator', 11, 0, 'operator', '/root'],
  ['games', 12, 100, 'games', '/usr/games'],
  ['ftp', 14, 50, 'FTP User', '/var/ftp'],
  ['rpcuser', 29, 29, 'RPC Service User', '/var/lib/nfs'],
  ['rpc', 32, 32, 'Rpcbind Daemon', '/var/lib/rpcbind'],
  ['sshd', 74, 74, 'Privilege-separated SSH', '/var/empty/sshd'],
  ['dbus', 81, 81, 'System Message Bus', '/'],
  ['nobody', 99, 99, 'Kernel Overflow User', '/'],
  ['avahi-autoipd', 170, 170, 'Avahi IPv4LL Stack', '/var/lib/avahi-autoipd'],
  ['chrony', 994, 992, '', '/var/lib/chrony'],
  ['sssd', 995, 993, 'User for sssd', '/'],
  ['kube', 996, 994, 'Kubernetes user', '/'],
  ['dockerroot', 997, 986, 'Docker User', '/var/lib/docker'],
  ['etcd', 998, 997, 'etcd user', '/var/lib/etcd'],
  ['polkitd', 999, 998, 'User for polkitd', '/'],
  ['nfsnobody', 65534, 65534, 'Anonymous NFS User', '/var/lib/nfs'],
]

const SHARED_GROUPS: readonly GroupRow[] = [
  ['root', 0],
  ['bin', 1],
  ['daemon', 2],
  ['sys', 3],
  ['adm', 4],
  ['tty', 5],
  ['disk', 6],
  ['lp', 7],
  ['mem', 8],
  ['kmem', 9],
  ['wheel', 10],
  ['cdrom', 11],
  ['mail', 12],
  ['man', 15],
  ['sudo', 16],
  ['dialout', 18],
  ['floppy', 19],
  ['games', 20],
  ['utmp', 22],
  ['rpcuser', 29],
  ['rpc', 32],
  ['utempter', 35],
  ['video', 39],
  ['dip', 40],
  ['ftp', 50],
  ['lock', 54],
  ['tss', 59],
  ['audio', 63],
  ['sshd', 74],
  ['dbus', 81],
  ['nobody', 99],
  ['users', 100],
  ['avahi-autoipd', 170],
  ['systemd-journal', 190],
  ['dockerroot', 986],
  ['chrony', 992],
  ['sssd', 993],
  ['kube', 994],
  ['cgred', 996],
  ['etcd', 997],
  ['polkitd', 998],
  ['ssh_keys', 999],
  ['nfsnobody', 65534],
]

/** Groups that every system keeps in `/etc/group`, so that its base config can make `core` a member. */
const SHARED_ETC_GROUPS = ['wheel', 'sudo', 'systemd-journal', 'adm']

interface AccountsRecord {
  rootGecos: string
  nologin: string
  users: readonly UserRow[]
  groups: readonly GroupRow[]
  etcGroups: readonly string[]
}

const ACCOUNTS: Readonly<Record<AccountsRelease, AccountsRecord>> = {
  // coreos/fedora-coreos-config 2d0fce6: manifests/passwd, manifests/group, `etc-group-members` of
  // fedora-coreos-base.yaml and fedora-coreos.yaml; the groups of packages by tests/kola/files/fcos_groups. Docker's
  // group has no number of its own there.
  fcos: {
    rootGecos: 'Super User',
    nologin: '/usr/sbin/nologin',
    users: [
      ['tcpdump', 72, 72, '', '/'],
      ['ceph', 167, 167, 'Ceph daemons', '/var/lib/ceph'],
      ['cockpit-ws', 988, 987, 'User for cockpit-ws', '/'],
      ['systemd-bus-proxy', 989, 988, 'systemd Bus Proxy', '/'],
      ['systemd-resolve', 990, 989, 'systemd Resolver', '/'],
      ['systemd-network', 991, 990, 'systemd Network Management', '/'],
      ['systemd-timesync', 993, 991, 'systemd Time Synchronization', '/'],
    ],
    groups: [
      ['tape', 33],
      ['tcpdump', 72],
      ['input', 104],
      ['ceph', 167],
      ['docker', 985],
      ['cockpit-ws', 987],
      ['systemd-bus-proxy', 988],
      ['systemd-resolve', 989],
      ['systemd-network', 990],
      ['systemd-timesync', 991],
    ],
    etcGroups: [...SHARED_ETC_GROUPS, 'docker'],
  },
  // openshift/os release-4.18: passwd, group (unchanged since 4.7), `etc-group-members` of common.yaml.
  rhcos: {
    rootGecos: 'root',
    nologin: '/sbin/nologin',
    users: [
      ['tss', 59, 59, 'Account used by the trousers package to sandbox the tcsd daemon', '/dev/null'],
      ['openvswitch', 800, 800, '', '/'],
    ],
    groups: [
      ['tape', 30],
      ['openvswitch', 800],
      ['hugetlbfs', 801],
    ],
    etcGroups: SHARED_ETC_GROUPS,
  },
}

/** The accounts that an image of a system has before its first boot. */
export function releaseAccounts(release: AccountsRelease): ReleaseAccounts {
  const record = ACCOUNTS[release]
  const users = [...SHARED_USERS, ...record.users].sort((a, b) => a[1] - b[1])
  const groups = [...SHARED_GROUPS, ...record.groups].sort((a, b) => a[1] - b[1])
  return {
    users: users.map(([name, uid, gid, gecos, home, shell = record.nologin]) =>
      [name, 'x', uid, gid, gecos, home, shell].join(':'),
    ),
    groups: groups.map(groupRow),
    etcGroups: groups.filter(([name]) => name === 'root' || record.etcGroups.includes(name)).map(groupRow),
    root: `root:x:0:0:${record.rootGecos}:/root:/bin/bash`,
  }
}

const groupRow = ([name, gid]: GroupRow): string => `${name}:x:${gid}:`
