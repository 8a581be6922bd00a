import { NUMBERS, PROCESSORS, type ProcessorName } from './syscall-numbers.js'
import type { SyscallCase, SyscallResult, SyscallRule } from './syscall-rules.js'

/** An instruction of classic BPF, `struct sock_filter` of <linux/filter.h>. */
interface BpfInstruction {
  code: number
  /** Instructions to skip when the comparison holds. */
  ifTrue?: number
  /** Instructions to skip when it does not. */
  ifFalse?: number
  operand: number
}

const LOAD_WORD = 0x20
const AND = 0x54
const IF_EQUAL = 0x15
const IF_AT_LEAST = 0x35
const RETURN = 0x06

/** Places in `struct seccomp_data` of <linux/seccomp.h>. */
const CALL_NUMBER = 0
const AUDIT_ARCHITECTURE = 4
const FIRST_ARGUMENT = 16
const ARGUMENT_SIZE = 8

const RETURN_ALLOW = 0x7fff0000
const RETURN_ERROR = 0x00050000
/** The same on every processor of the table. */
const ERRORS = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const

/** A jump skips at most this many instructions. */
const MAX_JUMP = 255

/**
 * Assembles a filter for seccomp: an array of `struct sock_filter`, as the processor itself keeps it. Calls of another
 * architecture than the processor's own, of 32-bit programs and of x32, do not exist for it.
 */
export function syscallFilter(name: ProcessorName, rules: readonly SyscallRule[]): Uint8Array {
  const processor = PROCESSORS[name]
  const program: BpfInstruction[] = [
    { code: LOAD_WORD, operand: AUDIT_ARCHITECTURE },
    { code: IF_EQUAL, operand: processor.audit, ifTrue: 1 },
    result('ENOSYS'),
    { code: LOAD_WORD, operand: CALL_NUMBER },
  ]
  if (processor.secondSet !== undefined)
    program.push({ code: IF_AT_LEAST, operand: processor.secondSet, ifFalse: 1 }, result('ENOSYS'))
  for (const rule of rules) {
    const numbers = rule.calls.map((call) => NUMBERS[call][processor.column]).filter((number) => number !== null)
    if (numbers.length === 0) continue
    const body = [...(rule.cases ?? []).flatMap((one) => caseOf(one, processor.littleEndian)), result(rule.otherwise)]
    program.push(...oneOf(numbers, body.length), ...body)
  }
  program.push(result('allow'))
  return bytesOf(program, processor.littleEndian)
}

const result = (what: SyscallResult): BpfInstruction => ({
  code: RETURN,
  operand: what === 'allow' ? RETURN_ALLOW : RETURN_ERROR + ERRORS[what],
})

/** Continues with the next instruction when the loaded word is one of the values; otherwise skips `otherwise` more. */
function oneOf(values: readonly number[], otherwise: number): BpfInstruction[] {
  if (Math.max(values.length, otherwise) > MAX_JUMP) throw new Error('a rule for system calls is too long for a jump')
  return values.map((value, n) => {
    const left = values.length - 1 - n
    return { code: IF_EQUAL, operand: value, ifTrue: left, ifFalse: left === 0 ? otherwise : 0 }
  })
}

/** Ends with the result when all tests hold; otherwise what follows decides. */
function caseOf({ tests, result: what }: SyscallCase, littleEndian: boolean): BpfInstruction[] {
  let rest: BpfInstruction[] = [result(what)]
  for (const { argument, mask, oneOf: values } of tests.toReversed()) {
    const lowerHalf = FIRST_ARGUMENT + ARGUMENT_SIZE * argument + (littleEndian ? 0 : ARGUMENT_SIZE / 2)
    const load: BpfInstruction[] = [{ code: LOAD_WORD, operand: lowerHalf }]
    if (mask !== undefined) load.push({ code: AND, operand: mask })
    rest = [...load, ...oneOf(values, rest.length), ...rest]
  }
  return rest
}

function bytesOf(program: readonly BpfInstruction[], littleEndian: boolean): Uint8Array {
  const bytes = new Uint8Array(program.length * 8)
  const view = new DataView(bytes.buffer)
  for (const [n, { code, ifTrue = 0, ifFalse = 0, operand }] of program.entries()) {
    view.setUint16(8 * n, code, littleEndian)
    view.setUint8(8 * n + 2, ifTrue)
    view.setUint8(8 * n + 3, ifFalse)
    view.setUint32(8 * n + 4, operand, littleEndian)
  }
  return bytes
}
