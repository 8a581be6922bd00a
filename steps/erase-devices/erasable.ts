import { isObject, type Logger } from '../../base/runtime/index.js'
import { HintError, type JsonObject } from '../../base/wire/index.js'
import { listBlockDevices, sysText, type BlockDevice } from '../hardware/block-devices.js'
import { compileHints } from '../hardware/find-by-hints.js'
import { StepError, type StepContext } from '../sdk/step.js'

/**
 * The disks that a cleaning step may erase: all but those in the node's `skip_block_devices`, those that the disk policy
 * protects, and, with `agent_erase_skip_read_only`, read-only ones.
 *
 * @throws StepError when a hint is bad, a disk is read-only, or the target does not allow cleaning at all
 */
export async function erasableDisks({ target, node, logger }: StepContext): Promise<BlockDevice[]> {
  if (!target.has('cleaning')) throw new StepError(`${target.name} does not allow its disks to be erased`)
  const skipped = skipTest(node)
  const disks: BlockDevice[] = []
  for (const disk of await listBlockDevices(target)) {
    const reason = skipped(disk)
      ? 'skip_block_devices names it'
      : target.disks.mayWrite(disk)
        ? await readOnlyReason(disk, { target, node, logger })
        : 'the target does not allow writing to it'
    if (reason) logger('info', `leaving ${disk.name} alone: ${reason}`)
    else disks.push(disk)
  }
  return disks
}

function skipTest(node: JsonObject): (disk: BlockDevice) => boolean {
  const skip = object(node['properties'])['skip_block_devices']
  if (!Array.isArray(skip)) return () => false
  // A volume name names a RAID array that may not exist yet; no disk can satisfy it as a hint.
  const hints = skip.map((item) => object(item)).filter((item) => !('volume_name' in item) && nonEmpty(item))
  const tests = readOrStepError(() => hints.map(compileHints))
  return (disk) => readOrStepError(() => tests.some((test) => test(disk)))
}

function readOrStepError<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof HintError)) throw cause
    throw new StepError(`skip_block_devices in the node's properties cannot be used: ${cause.message}`, { cause })
  }
}

async function readOnlyReason(
  { name }: BlockDevice,
  { target, node }: Pick<StepContext, 'target' | 'node'> & { logger: Logger },
): Promise<string | null> {
  const flag = await sysText(target.executor, `/sys/class/block/${name.replace('/dev/', '')}/ro`)
  if (flag !== '1') return null
  if (eraseOptionsOf(node)['agent_erase_skip_read_only'] === true) return 'it is read-only'
  throw new StepError(
    `${name} is read-only and cannot be erased. Skip it with agent_erase_skip_read_only or skip_block_devices.`,
  )
}

/** Ironic's options for erasing: `agent_erase_devices_iterations` and so on. */
export const eraseOptionsOf = (node: JsonObject): JsonObject => object(node['driver_internal_info'])

const nonEmpty = (hints: JsonObject) => Object.keys(hints).length > 0
const object = (value: unknown): JsonObject => (isObject(value) ? value : {})
