import type { CellNeeds } from './needs.js'
import type { Processor, SyscallName } from './syscall-numbers.js'

/** Fate of a system call: it happens, or fails with this error. */
export type SyscallResult = 'allow' | 'EPERM' | 'ENOSYS' | 'EAFNOSUPPORT'

/** Compares the lower 32 bits of an argument: those of `mask` must be one of the values. */
interface ArgumentTest {
  argument: number
  mask?: number
  oneOf: readonly number[]
}

/** Holds when all of its tests do. */
export interface SyscallCase {
  tests: readonly ArgumentTest[]
  result: SyscallResult
}

/** The first case that holds decides. */
export interface SyscallRule {
  calls: readonly SyscallName[]
  cases?: readonly SyscallCase[]
  otherwise: SyscallResult
}

/** Libraries do without these when the kernel does not have them. */
const ABSENT: readonly SyscallName[] = [
  // io_uring opens, connects and writes past any filter.
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  // Its flags are in memory, where a filter cannot read them; libraries then use clone.
  'clone3',
  'socketcall',
]

const DENIED: readonly SyscallName[] = [
  // Keyrings belong to the user root, not to a namespace.
  'add_key',
  'request_key',
  'keyctl',
  // Other processes of the cell: one that loads the filter may itself be without it.
  'ptrace',
  'process_vm_readv',
  'process_vm_writev',
  'pidfd_getfd',
  'kcmp',
  // Other namespaces, and files by their numbers instead of their names.
  'setns',
  'open_by_handle_at',
  // The kernel itself.
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'init_module',
  'finit_module',
  'delete_module',
  'kexec_load',
  'kexec_file_load',
  'reboot',
  'iopl',
  'ioperm',
  // Settings of the whole machine.
  'swapon',
  'swapoff',
  'acct',
  'quotactl',
  'quotactl_fd',
]

const MOUNTING: readonly SyscallName[] = [
  'mount',
  'umount',
  'umount2',
  'pivot_root',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'open_tree',
  'open_tree_attr',
  'move_mount',
  'mount_setattr',
]

const CLONE_NEWUSER = 0x10000000
/** Flags for new namespaces: mount, cgroup, UTS, IPC, user, PID, network. */
const NEW_NAMESPACES = 0x7e020000

/** Kinds of sockets. */
const UNIX = 1
const INET = 2
const INET6 = 10
const NETLINK = 16
const PACKET = 17

const STREAM = 1
const SEQUENCED_PACKET = 5
/** The other bits of a socket's type are flags. */
const TYPE_MASK = 0xf

/** Subjects of netlink: networks and their addresses; events of devices, which udev's programs read; families by name. */
const ROUTE = 0
const UEVENT = 15
const GENERIC = 16

/**
 * The system calls that a command's cell denies; all others are allowed. Namespaces and read-only mounts hide files,
 * processes and networks of the target, but not what has no place in any of these: sockets by name, keyrings.
 */
export function syscallRules(needs: CellNeeds, { cloneFlags }: Processor): readonly SyscallRule[] {
  // These may mount, in namespaces of their own.
  const mounts = needs.capabilities.includes('sys_admin')
  const closed = mounts ? CLONE_NEWUSER : NEW_NAMESPACES
  const inPlace = (argument: number): SyscallCase[] => [
    { tests: [{ argument, mask: closed, oneOf: [0] }], result: 'allow' },
  ]
  return [
    { calls: ABSENT, otherwise: 'ENOSYS' },
    { calls: mounts ? DENIED : [...DENIED, ...MOUNTING], otherwise: 'EPERM' },
    { calls: ['unshare'], cases: inPlace(0), otherwise: 'EPERM' },
    { calls: ['clone'], cases: inPlace(cloneFlags), otherwise: 'EPERM' },
    { calls: ['socket'], cases: allowedSockets(needs), otherwise: 'EAFNOSUPPORT' },
    { calls: ['socketpair'], cases: PAIRS, otherwise: 'EAFNOSUPPORT' },
    ...(needs.writesDisk ? [] : [DEVICE_READS]),
  ]
}

/** Pairs of these types stay connected to each other. A datagram socket of a pair can send to any name. */
const PAIRS: readonly SyscallCase[] = [
  {
    tests: [
      { argument: 0, oneOf: [UNIX] },
      { argument: 1, mask: TYPE_MASK, oneOf: [STREAM, SEQUENCED_PACKET] },
    ],
    result: 'allow',
  },
]

/** A filter sees what kind a socket is of, never the name that it connects to. */
function allowedSockets({ unixSockets, udevControl, partitions, network, capabilities }: CellNeeds): SyscallCase[] {
  const families = [INET, INET6]
  if (unixSockets) families.push(UNIX)
  if (capabilities.includes('net_raw')) families.push(PACKET)
  const subjects = network ? [ROUTE, UEVENT, GENERIC] : [ROUTE, UEVENT]
  const cases: SyscallCase[] = [
    { tests: [{ argument: 0, oneOf: families }], result: 'allow' },
    {
      tests: [
        { argument: 0, oneOf: [NETLINK] },
        { argument: 2, oneOf: subjects },
      ],
      result: 'allow',
    },
  ]
  // `udevadm settle` asks udevd whether it is idle; few other services listen on this type.
  if (udevControl || partitions)
    cases.push({
      tests: [
        { argument: 0, oneOf: [UNIX] },
        { argument: 1, mask: TYPE_MASK, oneOf: [SEQUENCED_PACKET] },
      ],
      result: 'allow',
    })
  return cases
}

/** Type and number of an ioctl request; its other bits, size and direction, differ between processors. */
const REQUEST_MASK = 0xffff
const TYPE_OF_REQUEST = 0xff00
const BLOCK_REQUESTS = 0x1200
const LOOP_REQUESTS = 0x4c00

/** Requests of <linux/fs.h> that only read, and BLKFLSBUF, by which partition tools see the disk as it is. */
const BLOCK_READS = [
  0x5e, // BLKROGET
  0x60, // BLKGETSIZE
  0x61, // BLKFLSBUF
  0x63, // BLKRAGET
  0x65, // BLKFRAGET
  0x67, // BLKSECTGET
  0x68, // BLKSSZGET
  0x70, // BLKBSZGET
  0x72, // BLKGETSIZE64
  0x78, // BLKIOMIN
  0x79, // BLKIOOPT
  0x7a, // BLKALIGNOFF
  0x7b, // BLKPBSZGET
  0x7c, // BLKDISCARDZEROES
  0x7e, // BLKROTATIONAL
  0x80, // BLKGETDISKSEQ
  0x82, // BLKREPORTZONE
  0x84, // BLKGETZONESZ
  0x85, // BLKGETNRZONES
]

/** LOOP_GET_STATUS and LOOP_GET_STATUS64 of <linux/loop.h>. */
const LOOP_READS = [0x03, 0x05]

/** Requests of <scsi/scsi_ioctl.h> that need no rights: start and stop the disk, lock and unlock its door. */
const SCSI_ACTIONS = [0x0005, 0x0006, 0x5380, 0x5381]

/** The kernel lets a descriptor for reading detach a loop device (LOOP_CLR_FD), and a superuser do more. */
const DEVICE_READS: SyscallRule = {
  calls: ['ioctl'],
  cases: [
    {
      tests: [
        {
          argument: 1,
          mask: REQUEST_MASK,
          oneOf: [
            ...BLOCK_READS.map((number) => BLOCK_REQUESTS + number),
            ...LOOP_READS.map((number) => LOOP_REQUESTS + number),
          ],
        },
      ],
      result: 'allow',
    },
    {
      tests: [{ argument: 1, mask: TYPE_OF_REQUEST, oneOf: [BLOCK_REQUESTS, LOOP_REQUESTS] }],
      result: 'EPERM',
    },
    { tests: [{ argument: 1, mask: REQUEST_MASK, oneOf: SCSI_ACTIONS }], result: 'EPERM' },
  ],
  otherwise: 'allow',
}
