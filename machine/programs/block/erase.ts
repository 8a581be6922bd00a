import { canAdopt } from '../../disk/described-disk.js'
import { findBlockNode, type BlockNode } from './block-nodes.js'
import type { Process } from '../machine-program.js'
import { defineTool, ToolFailure } from '../tool.js'

const ERASE_PIECE_BYTES = 256 * 1024 * 1024
const RANDOM_PIECE = 1024 * 1024

/**
 * Writes zeros from the end, so that a disk file can be truncated instead of read. In pieces only where they take time:
 * a disk in memory is zeroed at once.
 */
async function zero({ clock, pace, signal }: Process, node: BlockNode, from: number, length: number): Promise<void> {
  const most = pace.writeRate > 0 || !canAdopt(node.device) ? ERASE_PIECE_BYTES : length
  for (let end = from + length; end > from; end -= most) {
    signal.throwIfAborted()
    const piece = Math.min(most, end - from)
    await node.device.discard(node.offset + end - piece, piece)
    if (pace.writeRate > 0) await clock.sleep((piece / pace.writeRate) * 1000, { signal })
  }
}

/** Writes only the last of several passes, since it overwrites the others; all of them take time. */
export const shred = defineTool(
  'shred',
  { force: 'f', zero: 'z', verbose: 'v', iterations: 'n=', size: 's=', exact: 'x', remove: 'u' },
  async (process, options) => {
    const { inside, clock, pace, signal, random, stderr } = process
    const rounds = Number(options.value('iterations') ?? 3)
    if (!Number.isInteger(rounds) || rounds < 0)
      throw new ToolFailure(`invalid number of passes: '${options.value('iterations')!}'`)
    if (options.rest.length === 0) throw new ToolFailure('missing file operand')
    for (const path of options.rest) {
      const node = await findBlockNode(inside, path)
      if (!node) throw new ToolFailure(`${path}: failed to open for writing: No such file or directory`)
      const passes = rounds + (options.has('zero') ? 1 : 0)
      for (let pass = 1; pass <= passes; pass++) {
        const kind = pass === passes && options.has('zero') ? '000000' : 'random'
        if (options.has('verbose')) stderr(`shred: ${path}: pass ${pass}/${passes} (${kind})...\n`)
        if (pass < passes && pace.writeRate > 0) await clock.sleep((node.length / pace.writeRate) * 1000, { signal })
      }
      if (options.has('zero')) await zero(process, node, 0, node.length)
      else if (rounds > 0)
        for (let at = 0; at < node.length; at += RANDOM_PIECE) {
          signal.throwIfAborted()
          const piece = Math.min(RANDOM_PIECE, node.length - at)
          await node.device.write(node.offset + at, random.bytes(piece))
          if (pace.writeRate > 0) await clock.sleep((piece / pace.writeRate) * 1000, { signal })
        }
      await node.device.flush()
    }
  },
)

export const blkdiscard = defineTool(
  'blkdiscard',
  { force: 'f', secure: 's', zeroout: 'z', verbose: 'v', offset: 'o=', length: 'l=', step: 'p=' },
  async (process, options) => {
    const path = options.rest[0]
    if (path === undefined) throw new ToolFailure('no device specified')
    const node = await findBlockNode(process.inside, path)
    if (!node) throw new ToolFailure(`cannot open ${path}: No such file or directory`)
    const offset = Number(options.value('offset') ?? 0)
    const length = Number(options.value('length') ?? node.length - offset)
    if (!(offset >= 0 && length > 0 && offset + length <= node.length))
      throw new ToolFailure(`${path}: offset is greater than device size`)
    await zero(process, node, offset, length)
    await node.device.flush()
    if (options.has('verbose')) process.stdout(`${path}: Discarded ${length} bytes from the offset ${offset}\n`)
  },
)
