/** Processors whose system calls a filter can name, as `uname -m` prints them. */
export type ProcessorName = 'x86_64' | 'aarch64' | 'riscv64' | 'ppc64le' | 's390x'

/** How the kernel presents system calls of a processor to a filter. */
export interface Processor {
  /** AUDIT_ARCH_* of <linux/audit.h>; that of 32-bit programs on the same kernel differs. */
  audit: number
  littleEndian: boolean
  /** Column of its numbers in {@link NUMBERS}. */
  column: 0 | 1 | 2 | 3
  /** Which argument of clone has the flags. */
  cloneFlags: 0 | 1
  /** First number of a second set of calls of the same architecture: x32. */
  secondSet?: number
}

const GENERIC = { littleEndian: true, column: 1, cloneFlags: 0 } as const

export const PROCESSORS: Readonly<Record<ProcessorName, Processor>> = {
  x86_64: { audit: 0xc000003e, littleEndian: true, column: 0, cloneFlags: 0, secondSet: 0x40000000 },
  aarch64: { ...GENERIC, audit: 0xc00000b7 },
  riscv64: { ...GENERIC, audit: 0xc00000f3 },
  ppc64le: { audit: 0xc0000015, littleEndian: true, column: 2, cloneFlags: 0 },
  s390x: { audit: 0x80000016, littleEndian: false, column: 3, cloneFlags: 1 },
}

export const isProcessor = (name: string): name is ProcessorName => Object.hasOwn(PROCESSORS, name)

type Numbers = readonly [x8664: number | null, generic: number | null, ppc64: number | null, s390x: number | null]

/** Calls from 424 on have one number everywhere. */
const everywhere = (number: number): Numbers => [number, number, number, number]

/** From the kernel's <asm/unistd.h>: of x86_64, of aarch64 and riscv64, of ppc64le, of s390x; null if the architecture lacks the call. */
export const NUMBERS = {
  acct: [163, 89, 51, 51],
  add_key: [248, 217, 269, 278],
  bpf: [321, 280, 361, 351],
  clone: [56, 220, 120, 120],
  clone3: everywhere(435),
  delete_module: [176, 106, 129, 129],
  finit_module: [313, 273, 353, 344],
  fsconfig: everywhere(431),
  fsmount: everywhere(432),
  fsopen: everywhere(430),
  fspick: everywhere(433),
  init_module: [175, 105, 128, 128],
  io_uring_enter: everywhere(426),
  io_uring_register: everywhere(427),
  io_uring_setup: everywhere(425),
  ioctl: [16, 29, 54, 54],
  ioperm: [173, null, 101, null],
  iopl: [172, null, 110, null],
  kcmp: [312, 272, 354, 343],
  kexec_file_load: [320, 294, 382, 381],
  kexec_load: [246, 104, 268, 277],
  keyctl: [250, 219, 271, 280],
  mount: [165, 40, 21, 21],
  mount_setattr: everywhere(442),
  move_mount: everywhere(429),
  open_by_handle_at: [304, 265, 346, 336],
  open_tree: everywhere(428),
  open_tree_attr: everywhere(467),
  perf_event_open: [298, 241, 319, 331],
  pidfd_getfd: everywhere(438),
  pivot_root: [155, 41, 203, 217],
  process_vm_readv: [310, 270, 351, 340],
  process_vm_writev: [311, 271, 352, 341],
  ptrace: [101, 117, 26, 26],
  quotactl: [179, 60, 131, 131],
  quotactl_fd: everywhere(443),
  reboot: [169, 142, 88, 88],
  request_key: [249, 218, 270, 279],
  seccomp: [317, 277, 358, 348],
  setns: [308, 268, 350, 339],
  socket: [41, 198, 326, 359],
  /** All calls for sockets in one, whose arguments a filter cannot read. */
  socketcall: [null, null, 102, 102],
  socketpair: [53, 199, 333, 360],
  swapoff: [168, 225, 115, 115],
  swapon: [167, 224, 87, 87],
  umount: [null, null, 22, 22],
  umount2: [166, 39, 52, 52],
  unshare: [272, 97, 282, 303],
  userfaultfd: [323, 282, 364, 355],
} as const satisfies Record<string, Numbers>

export type SyscallName = keyof typeof NUMBERS
