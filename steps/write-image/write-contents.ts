import { defined } from '../../base/runtime/index.js'
import { runCommand } from '../sdk/run-command.js'
import type { StepContext } from '../sdk/step.js'
import type { DiskContents } from './qcow2.js'

/** Block size of dd. Several blocks go in one command, to save round trips on a slow connection. */
const DD_BLOCK_BYTES = 1024 * 1024
const BLOCKS_A_RUN = 8
const ZERO_BLOCK = Buffer.alloc(DD_BLOCK_BYTES)

/**
 * Writes contents to a disk of the target with dd, including zeros, so that no old data remains. The first block comes
 * last, so that an interrupted write leaves no partition table.
 */
export async function writeContents(context: StepContext, disk: string, contents: DiskContents): Promise<void> {
  const { target, progress, signal } = context
  const dd = (words: string[], stdin?: Uint8Array) =>
    runCommand(target.executor, ['dd', ...words, `of=${disk}`, 'bs=1M', 'iflag=fullblock', 'status=none'], {
      effect: 'writes',
      signal,
      ...defined({ stdin }),
    })
  const blocks = Math.ceil(contents.size / DD_BLOCK_BYTES)
  let data: { from: number; parts: Buffer[] } = { from: 1, parts: [] }
  const flush = async (next: number) => {
    if (data.parts.length > 0) await dd([`seek=${data.from}`], Buffer.concat(data.parts))
    data = { from: next, parts: [] }
  }
  const zero = (from: number, count: number) => dd(['if=/dev/zero', `seek=${from}`, `count=${count}`])

  await zero(0, Math.min(1, Math.floor(contents.size / DD_BLOCK_BYTES)))
  for (let block = 1; block < blocks;) {
    const hole = Math.floor((await contents.zeros(block * DD_BLOCK_BYTES)) / DD_BLOCK_BYTES)
    let zeros = hole
    let bytes: Buffer | undefined
    while (zeros < BLOCKS_A_RUN * 32 && block + zeros < blocks) {
      bytes = await contents.read((block + zeros) * DD_BLOCK_BYTES, DD_BLOCK_BYTES)
      if (bytes.length < DD_BLOCK_BYTES || !bytes.equals(ZERO_BLOCK)) break
      bytes = undefined
      zeros++
    }
    if (zeros > 0) {
      await flush(block + zeros)
      await zero(block, zeros)
      block += zeros
      data.from = block
    }
    if (bytes) {
      data.parts.push(bytes)
      block++
      if (data.parts.length === BLOCKS_A_RUN) await flush(block)
    }
    progress.percent(Math.floor((block / blocks) * 100))
  }
  await flush(blocks)
  await dd(['seek=0'], await contents.read(0, DD_BLOCK_BYTES))
  await runCommand(target.executor, ['sync'], { effect: 'writes', signal })
}
