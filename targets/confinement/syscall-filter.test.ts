import { describe, expect, test } from 'vitest'
import { READ_ONLY_NEEDS, type CellNeeds } from './needs.js'
import { syscallFilter } from './syscall-filter.js'
import { NUMBERS, PROCESSORS, type ProcessorName, type SyscallName } from './syscall-numbers.js'
import { syscallRules } from './syscall-rules.js'

/** A system call as the kernel shows it to a filter. */
interface ShownCall {
  call: SyscallName | number
  args?: readonly (number | bigint)[]
  audit?: number
}

/** Runs a filter as the kernel does, on `struct seccomp_data`; returns `allow` or the number of the error. */
function outcome(name: ProcessorName, filter: Uint8Array, { call, args = [], audit }: ShownCall): 'allow' | number {
  const { littleEndian, column, audit: own } = PROCESSORS[name]
  const data = new DataView(new ArrayBuffer(64))
  data.setInt32(0, typeof call === 'number' ? call : NUMBERS[call][column]!, littleEndian)
  data.setUint32(4, audit ?? own, littleEndian)
  for (const [n, arg] of args.entries()) data.setBigUint64(16 + 8 * n, BigInt.asUintN(64, BigInt(arg)), littleEndian)
  const program = new DataView(filter.buffer)
  let word = 0
  for (let at = 0; ; at++) {
    const operand = program.getUint32(8 * at + 4, littleEndian)
    const jump = (holds: boolean) => (at += program.getUint8(8 * at + (holds ? 2 : 3)))
    switch (program.getUint16(8 * at, littleEndian)) {
      case 0x20:
        word = data.getUint32(operand, littleEndian)
        break
      case 0x54:
        word = (word & operand) >>> 0
        break
      case 0x15:
        jump(word === operand)
        break
      case 0x35:
        jump(word >= operand)
        break
      case 0x06:
        return operand === 0x7fff0000 ? 'allow' : operand - 0x50000
      default:
        throw new Error(`instruction ${at} is unknown to this interpreter`)
    }
  }
}

function deciding(name: ProcessorName, needs: Partial<CellNeeds> = {}) {
  const filter = syscallFilter(name, syscallRules({ ...READ_ONLY_NEEDS, ...needs }, PROCESSORS[name]))
  return (call: SyscallName | number, ...args: (number | bigint)[]) => outcome(name, filter, { call, args })
}

const ALL = Object.keys(PROCESSORS) as ProcessorName[]
const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97
/** Numbers of <linux/sched.h>, <linux/socket.h>, <linux/fs.h>, <linux/loop.h>. */
const CLONE = { NEWNS: 0x20000, NEWUSER: 0x10000000, NEWNET: 0x40000000, VM: 0x100, VFORK: 0x4000, CHILD: 17 }
const AF = { UNIX: 1, INET: 2, INET6: 10, NETLINK: 16, PACKET: 17, ALG: 38, VSOCK: 40, XDP: 44 }
const SOCK = { STREAM: 1, DGRAM: 2, RAW: 3, SEQPACKET: 5, CLOEXEC: 0o2000000, NONBLOCK: 0o4000 }
const LOOP = { CLR_FD: 0x4c01, SET_STATUS64: 0x4c04, GET_STATUS64: 0x4c05, CHANGE_FD: 0x4c06, SET_CAPACITY: 0x4c07 }
const BLK = { ROSET: 0x125d, RRPART: 0x125f, PG: 0x1269, DISCARD: 0x1277, ZEROOUT: 0x127f, SSZGET: 0x1268 }
const BLKGETSIZE64 = 0x80081272
const TCGETS = 0x5401

describe.each(ALL)('the filter for %s', (name) => {
  const decide = deciding(name)

  test('is an array of instructions, all of whose jumps stay inside', () => {
    const filter = syscallFilter(name, syscallRules(READ_ONLY_NEEDS, PROCESSORS[name]))
    expect(filter.length % 8).toBe(0)
    // The kernel takes 4096 instructions.
    expect(filter.length / 8).toBeLessThan(256)
  })

  test('leaves the calls alone that programs live by', () => {
    const denied = new Set(Object.values(NUMBERS).map((numbers) => numbers[PROCESSORS[name].column]))
    for (let number = 0; number < 500; number++)
      if (!denied.has(number)) expect([number, decide(number)]).toEqual([number, 'allow'])
  })

  test('denies keyrings, io_uring, other processes and the kernel itself', () => {
    for (const call of ['add_key', 'request_key', 'keyctl'] as const) expect(decide(call)).toBe(EPERM)
    for (const call of ['io_uring_setup', 'io_uring_enter', 'io_uring_register'] as const)
      expect(decide(call)).toBe(ENOSYS)
    for (const call of ['ptrace', 'process_vm_writev', 'pidfd_getfd', 'setns', 'open_by_handle_at'] as const)
      expect(decide(call)).toBe(EPERM)
    for (const call of ['bpf', 'perf_event_open', 'kexec_load', 'init_module', 'swapon', 'quotactl'] as const)
      expect(decide(call)).toBe(EPERM)
    for (const call of ['mount', 'umount2', 'fsopen', 'open_tree', 'move_mount'] as const)
      expect(decide(call)).toBe(EPERM)
  })

  test('denies new namespaces, and leaves new processes and threads', () => {
    const clone = (flags: number | bigint) => (name === 's390x' ? decide('clone', 0, flags) : decide('clone', flags, 0))
    for (const flag of [CLONE.NEWNS, CLONE.NEWUSER, CLONE.NEWNET]) {
      expect(decide('unshare', flag)).toBe(EPERM)
      expect(clone(flag | CLONE.CHILD)).toBe(EPERM)
      // The kernel looks at the lower half alone.
      expect(clone((1n << 40n) | BigInt(flag))).toBe(EPERM)
    }
    expect(clone(CLONE.VM | CLONE.VFORK | CLONE.CHILD)).toBe('allow')
    expect(decide('unshare', 0x400)).toBe('allow')
    expect(decide('clone3', 0, 88)).toBe(ENOSYS)
  })

  test('denies sockets by the kind that a service could be reached by', () => {
    for (const type of [SOCK.STREAM, SOCK.DGRAM, SOCK.SEQPACKET])
      for (const family of [AF.UNIX, AF.VSOCK, AF.PACKET, AF.ALG, AF.XDP])
        expect([family, decide('socket', family, type | SOCK.CLOEXEC, 0)]).toEqual([family, EAFNOSUPPORT])
    expect(decide('socket', (1n << 32n) | BigInt(AF.UNIX), SOCK.STREAM, 0)).toBe(EAFNOSUPPORT)
    for (const family of [AF.INET, AF.INET6]) expect(decide('socket', family, SOCK.STREAM, 0)).toBe('allow')
    expect(decide('socket', AF.NETLINK, SOCK.RAW, 0)).toBe('allow')
    expect(decide('socket', AF.NETLINK, SOCK.RAW, 16)).toBe(EAFNOSUPPORT)
  })

  test('denies pairs of datagram sockets, which can send to any name', () => {
    for (const type of [SOCK.STREAM, SOCK.SEQPACKET]) {
      expect(decide('socketpair', AF.UNIX, type, 0)).toBe('allow')
      expect(decide('socketpair', AF.UNIX, type | SOCK.CLOEXEC | SOCK.NONBLOCK, 0)).toBe('allow')
    }
    for (const type of [SOCK.DGRAM, SOCK.RAW, SOCK.DGRAM | SOCK.CLOEXEC])
      expect(decide('socketpair', AF.UNIX, type, 0)).toBe(EAFNOSUPPORT)
    expect(decide('socketpair', 30, SOCK.STREAM, 0)).toBe(EAFNOSUPPORT)
  })

  test('denies requests that change a disk or a loop device', () => {
    for (const request of [LOOP.CLR_FD, LOOP.SET_STATUS64, LOOP.CHANGE_FD, LOOP.SET_CAPACITY, 0x4c00, 0x4c80])
      expect([request, decide('ioctl', 3, request)]).toEqual([request, EPERM])
    for (const request of [BLK.ROSET, BLK.RRPART, BLK.PG, BLK.DISCARD, BLK.ZEROOUT, 0x40081271])
      expect([request, decide('ioctl', 3, request)]).toEqual([request, EPERM])
    // The kernel's drivers get the lower half alone.
    expect(decide('ioctl', 3, (7n << 32n) | BigInt(LOOP.CLR_FD))).toBe(EPERM)
    for (const request of [LOOP.GET_STATUS64, BLK.SSZGET, BLKGETSIZE64, TCGETS])
      expect([request, decide('ioctl', 3, request)]).toEqual([request, 'allow'])
  })

  test('knows no other set of calls', () => {
    const filter = syscallFilter(name, syscallRules(READ_ONLY_NEEDS, PROCESSORS[name]))
    // i386, 32-bit ARM, 31-bit s390.
    for (const audit of [0x40000003, 0x40000028, 0x00000016])
      for (const call of [1, 20, 359]) expect(outcome(name, filter, { call, audit })).toBe(ENOSYS)
  })
})

describe('what a command needs', () => {
  test('x32 is a second set of calls', () => {
    const decide = deciding('x86_64', { unixSockets: true, capabilities: ['sys_admin'] })
    for (const number of [0x40000000, 0x40000000 + 41, 0x40000000 + 520, -1]) expect(decide(number)).toBe(ENOSYS)
  })

  test('one call for all kinds of sockets does not exist where there is one', () => {
    for (const name of ['ppc64le', 's390x'] as const) expect(deciding(name)('socketcall', 1, 0)).toBe(ENOSYS)
  })

  test('udevadm reaches udevd by the one type of socket that it listens on', () => {
    for (const needs of [{ udevControl: true }, { partitions: true }]) {
      const decide = deciding('x86_64', needs)
      expect(decide('socket', AF.UNIX, SOCK.SEQPACKET | SOCK.CLOEXEC | SOCK.NONBLOCK, 0)).toBe('allow')
      expect(decide('socket', AF.UNIX, SOCK.STREAM, 0)).toBe(EAFNOSUPPORT)
      expect(decide('socket', AF.UNIX, SOCK.DGRAM, 0)).toBe(EAFNOSUPPORT)
    }
  })

  test('the installer has sockets by name, and mounts in a namespace of its own', () => {
    const decide = deciding('aarch64', { unixSockets: true, capabilities: ['sys_admin'], writesDisk: true })
    expect(decide('socket', AF.UNIX, SOCK.STREAM, 0)).toBe('allow')
    expect(decide('unshare', CLONE.NEWNS)).toBe('allow')
    expect(decide('mount')).toBe('allow')
    expect(decide('ioctl', 3, BLK.RRPART)).toBe('allow')
    // A user namespace gives rights that the command does not have.
    expect(decide('unshare', CLONE.NEWUSER | CLONE.NEWNS)).toBe(EPERM)
    expect(decide('keyctl')).toBe(EPERM)
  })

  test('programs that look at networks have their kinds of sockets', () => {
    expect(deciding('x86_64', { network: true })('socket', AF.NETLINK, SOCK.RAW, 16)).toBe('allow')
    expect(deciding('x86_64', { network: true })('socket', AF.UNIX, SOCK.STREAM, 0)).toBe(EAFNOSUPPORT)
    expect(deciding('x86_64', { capabilities: ['net_raw'] })('socket', AF.PACKET, SOCK.RAW, 3)).toBe('allow')
  })

  test('a command that writes the disk may change it in any way', () => {
    const decide = deciding('x86_64', { writesDisk: true })
    for (const request of [BLK.DISCARD, BLK.ZEROOUT, LOOP.CLR_FD]) expect(decide('ioctl', 3, request)).toBe('allow')
  })
})
