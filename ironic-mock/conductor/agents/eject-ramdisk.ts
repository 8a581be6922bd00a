import { implementationOf } from '../../drivers/hardware-types.js'
import type { EffectBody } from '../core/effects.js'
import type { NodeTask } from '../core/node-task.js'
import { cleanUpRamdisk } from './boot-preparation.js'
import { fastTracked } from './fast-track.js'

/** Whether {@link ejectRamdisk} changes the machine. */
export function isRamdiskEjected(task: NodeTask): boolean {
  const { node } = task
  const media = implementationOf('boot', node.boot_interface)?.virtualMedia ?? false
  return media && !node.disable_power_off && !fastTracked(task)
}

/**
 * Clean-up after a ramdisk, also after one that failed: a machine that booted it from virtual media is powered off before the
 * medium is ejected (ironic 39.0.0 drivers/modules/redfish/boot.py `clean_up_ramdisk`); other boot interfaces leave the
 * power as it is.
 */
export const ejectRamdisk = (task: NodeTask): [EffectBody, ...EffectBody[]] =>
  isRamdiskEjected(task) ? [{ kind: 'power', target: 'power off' }, ...cleanUpRamdisk(task)] : [{ kind: 'proceed' }]
