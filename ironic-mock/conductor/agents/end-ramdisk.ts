import { implementationOf } from '../../drivers/hardware-types.js'
import type { EffectBody } from '../core/effects.js'
import type { NodeTask } from '../core/node-task.js'
import { fastTracked } from './fast-track.js'

/**
 * Clean-up after a ramdisk, also after one that failed: a machine that booted it from virtual media is powered off before the
 * medium is ejected (ironic 39.0.0 drivers/modules/redfish/boot.py `clean_up_ramdisk`); other boot interfaces leave the
 * power as it is.
 */
export function endRamdisk(task: NodeTask): EffectBody {
  const { node } = task
  const media = implementationOf('boot', node.boot_interface)?.virtualMedia ?? false
  return media && !node.disable_power_off && !fastTracked(task)
    ? { kind: 'power', target: 'power off' }
    : { kind: 'proceed' }
}

/** Whether {@link endRamdisk} changes the machine. */
export const hasRamdiskToEnd = (task: NodeTask): boolean => endRamdisk(task).kind === 'power'
