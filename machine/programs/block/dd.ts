import { ownMember } from '../../../base/runtime/index.js'
import { findBlockNode, type BlockNode } from './block-nodes.js'
import { fileView, type FileView } from '../files/file-view.js'
import type { Process, MachineProgram } from '../machine-program.js'
import { splitOnce, strerror, ToolFailure } from '../tool.js'

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

/** @throws ToolFailure for what is not a number */
function parseDdSizes(operands: ReadonlyMap<string, string>): DdSizes {
  const sizes: DdSizes = { bs: 512, skip: 0, seek: 0, count: Infinity }
  for (const name of ['bs', 'skip', 'seek', 'count'] as const) {
    const text = operands.get(name)
    if (text === undefined) continue
    const value = parseDdSize(text)
    if (value === undefined) throw new ToolFailure(`invalid number: '${text}'`)
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

/** Output of dd. */
interface DdOutput {
  /** Bytes that have room from an offset on. */
  room(offset: number): number
  /** In bytes per second; 0 for one without a limit. */
  writeRate: number
  write(offset: number, bytes: Uint8Array): Promise<void>
  /** Undefined where zeros are written as other bytes are. */
  discard: ((offset: number, length: number) => Promise<void>) | undefined
  finish(): Promise<void>
}

/** Copies `count` blocks of `bs` bytes between zeros, random bytes, devices and files. */
export const dd: MachineProgram = async (process) => {
  const operands = new Map(process.argv.slice(1).map((word) => splitOnce(word, '=') as [string, string]))
  try {
    return await new DdCopy(process, operands).run()
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error
    process.stderr(`dd: ${error.message}\n`)
    return error.exitCode
  }
}

class DdCopy {
  readonly #process: Process
  readonly #operands: ReadonlyMap<string, string>
  readonly #sizes: DdSizes
  readonly #view: FileView
  readonly #started: number
  #copied = 0

  constructor(process: Process, operands: ReadonlyMap<string, string>) {
    this.#process = process
    this.#operands = operands
    this.#sizes = parseDdSizes(operands)
    this.#view = fileView(process.inside, process.clock)
    this.#started = process.clock.elapsed()
  }

  /** @throws ToolFailure for an input or output that cannot be opened */
  async run(): Promise<number> {
    const from = this.#operands.get('if')
    const to = this.#operands.get('of')
    try {
      const input = await this.#openInput(from)
      const output = await this.#openOutput(to)
      const isComplete = await this.#copyBlocks(input, output)
      if (!isComplete) return this.#fail(`error writing '${to!}': No space left on device`)
      await output.finish()
    } catch (error) {
      const sentence = this.#process.signal.aborted ? undefined : strerror(error)
      if (sentence === undefined) throw error
      return this.#fail(`error copying '${from ?? 'standard input'}' to '${to ?? 'standard output'}': ${sentence}`)
    }
    if (this.#operands.get('status') !== 'none') this.#report()
    return 0
  }

  async #openInput(path: string | undefined): Promise<DdInput> {
    const input = await openSource(this.#process, this.#view, path)
    if (!input) throw new ToolFailure(`failed to open '${path!}': No such file or directory`)
    return input
  }

  async #openOutput(path: string | undefined): Promise<DdOutput> {
    const { inside, pace, stdout } = this.#process
    const node = path === undefined ? undefined : await findBlockNode(inside, path)
    if (node) return toNode(node, pace.writeRate)
    if (path === undefined) return gathered((pieces) => pieces.forEach((bytes) => stdout(bytes)))
    if (path === '/dev/null') return gathered(() => {})
    if (path.startsWith('/dev/')) throw new ToolFailure(`failed to open '${path}': Permission denied`)
    return gathered((pieces) => this.#view.write(path, Buffer.concat(pieces)))
  }

  /** Copies piece by piece; false when the output is full. */
  async #copyBlocks(input: DdInput, output: DdOutput): Promise<boolean> {
    const { clock, signal } = this.#process
    const { bs, skip, seek, count } = this.#sizes
    const total = Math.min(count * bs, input.length - skip * bs)
    while (this.#copied < total) {
      signal.throwIfAborted()
      const piece = Math.min(total - this.#copied, input.zero && output.discard ? ZERO_PIECE : DD_PIECE_BYTES)
      const at = seek * bs + this.#copied
      const length = Math.min(piece, output.room(at))
      if (input.zero && output.discard) await output.discard(at, length)
      else await output.write(at, await input.read(skip * bs + this.#copied, length))
      this.#copied += length
      if (output.writeRate > 0) await clock.sleep((length / output.writeRate) * 1000, { signal })
      if (length < piece) return false
    }
    return true
  }

  /** Says why the copy ends early, and how far it came. */
  #fail(message: string): number {
    this.#process.stderr(`dd: ${message}\n`)
    this.#report()
    return 1
  }

  #report(): void {
    report(this.#process, this.#copied, this.#sizes.bs, this.#process.clock.elapsed() - this.#started)
  }
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

const toNode = ({ device, offset: start, length }: BlockNode, writeRate: number): DdOutput => ({
  room: (offset) => Math.max(0, length - offset),
  writeRate,
  write: (offset, bytes) => device.write(start + offset, bytes),
  discard: (offset, count) => device.discard(start + offset, count),
  finish: () => device.flush(),
})

/** An output that is written as one, at the end. */
function gathered(writePieces: (pieces: readonly Uint8Array[]) => Promise<void> | void): DdOutput {
  const pieces: Uint8Array[] = []
  return {
    room: () => Infinity,
    writeRate: 0,
    write: async (_, bytes) => void pieces.push(bytes),
    discard: undefined,
    finish: async () => writePieces(pieces),
  }
}

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
