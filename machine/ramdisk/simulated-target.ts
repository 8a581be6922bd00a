import type { Executor, Target } from '../../targets/index.js'
import type { LazyMap } from '../../base/runtime/index.js'
import type { MachineParts } from '../machine-parts.js'
import { stagedIn } from './staged-files.js'

const ANY_DISK = { mayWrite: () => true }
const samePath = (path: string): string => path
const hasAll = (): boolean => true

/**
 * A machine as steps act on it.
 *
 * @param staged images that were fetched for it
 */
export function simulatedTarget(
  machine: string,
  executor: Executor,
  staged: Pick<LazyMap<string, string>, 'set'>,
  { clock, stage, downloads }: MachineParts,
): Target {
  const name = `sim ${machine}`
  if (!stage) return { name, executor, clock, disks: ANY_DISK, hostPath: samePath, has: hasAll }
  const stageHere = stagedIn(staged, stage, downloads)
  return { name, executor, clock, disks: ANY_DISK, hostPath: samePath, has: hasAll, stage: stageHere }
}
