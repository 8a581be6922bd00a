import { errorChain } from '../../base/runtime/index.js'
import type { Target } from '../../targets/index.js'
import { StepError } from './step.js'

/** Free bytes below which a failed write counts as one to a full file system, which reserves its last blocks. */
const MIN_FREE_BYTES = 4 * 2 ** 20

/** Why a write failed on a target whose disk is a file: its file system is full. Undefined when it is not. */
export async function fullDiskReason({ diskFile }: Target): Promise<string | undefined> {
  const found = await diskFile?.().catch(() => undefined)
  if (found === undefined || found.roomLeft > MIN_FREE_BYTES) return undefined
  return `The disk is not broken: it is the file ${found.path}, whose file system is full. Make room there, and try again.`
}

/** The kernel says EIO of a disk whose file has no room left: then the error says so too. */
export async function withFullDiskReason(target: Target, error: unknown): Promise<unknown> {
  const text = errorChain(error).join(': ')
  if (!/Input\/output error|\bEIO\b/.test(text)) return error
  const why = await fullDiskReason(target)
  return why === undefined || text.includes(why) ? error : new StepError(`${text}. ${why}`, { cause: error })
}
