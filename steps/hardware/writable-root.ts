import type { Target } from '../../targets/index.js'
import { StepError, type StepContext } from '../sdk/step.js'
import { listBlockDevices, type BlockDevice } from './block-devices.js'
import { chooseRootDevice } from './root-device.js'
import { deletableArrays, listRaidArrays } from './software-raid.js'

/**
 * The root device of the node, if the policy lets steps write it; for an array, all its members.
 *
 * @throws StepError when there is no root device, or it may not be written
 */
export async function chooseWritableRoot({ target, node }: StepContext): Promise<BlockDevice> {
  const devices = await listBlockDevices(target)
  const chosen = chooseRootDevice(devices, node)
  const writable = chosen.type.startsWith('raid')
    ? deletableArrays(target, await listRaidArrays(target), devices).some(({ name }) => name === chosen.name)
    : target.disks.mayWrite(chosen)
  if (writable) return chosen
  throw forbiddenDisk(target, chosen, 'is the root device')
}

/** Refusal of a disk that was not named for this run; `role` says what the step would do with it. */
export const forbiddenDisk = (target: Target, { name, serial }: BlockDevice, role: string): StepError =>
  new StepError(
    `${name} (serial ${serial ?? 'unknown'}) ${role}, but ${target.name} does not allow writing to it. Name that disk instead (serial number, WWN, or a name below /dev/disk/by-id or /dev/disk/by-path), or change the root device hints.`,
  )
