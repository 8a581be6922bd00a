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
  throw new StepError(
    `${chosen.name} (serial ${chosen.serial ?? 'unknown'}) is the root device, but ${target.name} does not allow writing to it. Allow it by its serial number or WWN, or change the root device hints.`,
  )
}
