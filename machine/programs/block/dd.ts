import { ownMember } from '../../../base/runtime/index.js'
import { findBlockNode, type BlockNode } from './block-nodes.js'
import { fileView, type FileView } from '../files/file-view.js'
import type { Process, MachineProgram } from '../machine-program.js'
import { splitOnce, strerror } from '../tool.js'

/** Size of a write, between which a fault or a power loss can strike. */
const DD_PIECE_BYTES = 4 * 1024 * 1024
/** Size of a write of zeros, which are cheap. */
const ZERO_PIECE = 256 * 1024 * 1024

const DD_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  c: 1,
  w: 2,
  b: 512,
  kB: 1000,
  K: 1024,
  k: 1024,
  KiB: 1024,
  MB: 1e6,
  M: 1024 ** 2,
  MiB: 1024 ** 2,
  GB: 1e9,
  G: 1024 ** 3,
  GiB: 1024 ** 3,
  T: 1024 ** 4,
}

function parseDdSize(text: string): number | undefined {
  const [, digits, unit] = /^(\d+)([A-Za-z]*)$/.exec(text) ?? []
  const factor = unit === undefined ? undefined : ownMember(DD_UNITS, unit)
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor
}

interface DdSizes {
  /** Bytes of a block. */
  bs: number
  /** Blocks of the input that are left out. */
  skip: number
  /** Blocks of the output that are left out. */
  seek: number
  /** Blocks to copy. */
  count: number
}

/** The sizes among the operands, or the first text that is no number. */
function readDdSizes(operands: ReadonlyMap<string, string>): DdSizes | string {
  const sizes: DdSizes = { bs: 512, skip: 0, seek: 0, count: Infinity }
  for (const name of ['bs', 'skip', 'seek', 'count'] as const) {
    const text = operands.get(name)
    if (text === undefined) continue
    const value = parseDdSize(text)
    if (value === undefined) return text
    sizes[name] = value
  }
  return sizes
}

/** Input of dd. */
interface DdInput {
  length: number
  zero: boolean
  read(offset: number, length: number): Promise<Uint8Array>
}

/** Copies `count` blocks of `bs` bytes between zeros, random bytes, devices and files. */
export const dd: MachineProgram = async (process) => {
  const { argv, inside, clock, pace, signal, stderr } = process
  const operands = new Map(argv.slice(1).map((word) => splitOnce(word, '=') as [string, string]))
  const wrong = (message: string) => {
    stderr(`dd: ${message}\n`)
    return 1
  }
  const sizes = readDdSizes(operands)
  if (typeof sizes === 'string') return wrong(`invalid number: '${sizes}'`)
  const { bs, skip, seek, count } = sizes
  const view = fileView(inside, clock)
  const input = operands.get('if')
  const output = operands.get('of')
  const started = clock.elapsed()
  let copied = 0
  try {
    const source = await openSource(process, view, input)
    if (!source) return wrong(`failed to open '${input!}': No such file or directory`)
    const node = output === undefined ? undefined : await findBlockNode(inside, output)
    if (output?.startsWith('/dev/') && output !== '/dev/null' && !node)
      return wrong(`failed to open '${output}': Permission denied`)
    const total = Math.min(count * bs, source.length - skip * bs)
    const whole: Uint8Array[] = []
    while (copied < total) {
      signal.throwIfAborted()
      const piece = Math.min(total - copied, source.zero && node ? ZERO_PIECE : DD_PIECE_BYTES)
      const at = seek * bs + copied
      const room = node ? Math.max(0, node.length - at) : piece
      const length = Math.min(piece, room)
      if (node && source.zero) await node.device.discard(node.offset + at, length)
      else {
        const bytes = await source.read(skip * bs + copied, length)
        if (node) await node.device.write(node.offset + at, bytes)
        else whole.push(bytes)
      }
      copied += length
      if (node && pace.writeRate > 0) await clock.sleep((length / pace.writeRate) * 1000, { signal })
      if (length < piece) {
        stderr(`dd: error writing '${output!}': No space left on device\n`)
        report(process, copied, bs, clock.elapsed() - started)
        return 1
      }
    }
    if (node) await node.device.flush()
    else if (output === undefined) for (const bytes of whole) process.stdout(bytes)
    else if (output !== '/dev/null') await view.write(output, Buffer.concat(whole))
  } catch (error) {
    const sentence = signal.aborted ? undefined : strerror(error)
    if (sentence === undefined) throw error
    stderr(`dd: error copying '${input ?? 'standard input'}' to '${output ?? 'standard output'}': ${sentence}\n`)
    report(process, copied, bs, clock.elapsed() - started)
    return 1
  }
  if (operands.get('status') !== 'none') report(process, copied, bs, clock.elapsed() - started)
  return 0
}

async function openSource(
  { inside, stdin, random }: Process,
  view: FileView,
  path: string | undefined,
): Promise<DdInput | undefined> {
  const bytes = (content: Uint8Array): DdInput => ({
    length: content.length,
    zero: false,
    read: (offset, length) => Promise.resolve(content.subarray(offset, offset + length)),
  })
  if (path === undefined) return bytes(stdin)
  if (path === '/dev/zero')
    return { length: Infinity, zero: true, read: (_, length) => Promise.resolve(Buffer.alloc(length)) }
  if (path === '/dev/urandom' || path === '/dev/random')
    return { length: Infinity, zero: false, read: (_, length) => Promise.resolve(random.bytes(length)) }
  const node = await findBlockNode(inside, path)
  if (node) return ofNode(node)
  return (await view.exists(path)) ? bytes(await view.read(path)) : undefined
}

const ofNode = (node: BlockNode): DdInput => ({
  length: node.length,
  zero: false,
  read: (offset, length) => node.device.read(node.offset + offset, length),
})

function report({ stderr }: Process, copied: number, bs: number, ms: number): void {
  const records = `${Math.floor(copied / bs)}+${copied % bs === 0 ? 0 : 1}`
  const seconds = Math.max(ms / 1000, 0.000001)
  const sizes =
    copied < 1000 ? '' : ` (${[scaled(copied, 1000, 'kMGT', 'B'), scaled(copied, 1024, 'KMGT', 'iB')].join(', ')})`
  stderr(`${records} records in\n${records} records out\n`)
  stderr(
    `${copied} bytes${sizes} copied, ${Number(seconds.toPrecision(6))} s, ${scaled(copied / seconds, 1000, 'kMGT', 'B')}/s\n`,
  )
}

function scaled(value: number, step: number, letters: string, suffix: string): string {
  let unit = -1
  for (; value >= step && unit < letters.length - 1; unit++) value /= step
  const digits = unit < 0 ? String(Math.round(value)) : value < 10 ? value.toFixed(1) : String(Math.round(value))
  return unit < 0 ? `${digits} B` : `${digits} ${letters[unit]!}${suffix}`
}
