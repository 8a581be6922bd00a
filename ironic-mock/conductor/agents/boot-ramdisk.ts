import type { BootSource } from '../../drivers/bmc.js'
import { deployInterface } from '../../drivers/deploy/deploy-interfaces.js'
import { beforeInstance, beforeRamdisk, cleanUpInstance, cleanUpRamdisk, mediaFor } from './boot-preparation.js'
import { ramdiskSource } from '../flows/deploy/deploy-images.js'
import type { EffectBody } from '../core/effects.js'
import type { NodeTask } from '../core/node-task.js'

/** Kernel parameters of every ramdisk. */
const kernelParameters = (task: NodeTask): Record<string, string> => ({ 'ipa-api-url': task.situation.ironicUrl })

/** Boot source of the node's instance: the disk, or the live image of a deploy interface that runs one. */
const instanceSource = ({ node, conf }: Pick<NodeTask, 'node' | 'conf'>): BootSource =>
  deployInterface(node).instanceSource?.(node, { fetchesImages: conf.fetchBootImages }) ?? { kind: 'disk' }

/** Effects of a boot, of which there is at least the power. */
type BootEffects = [EffectBody, ...EffectBody[]]

/** Boots the ramdisk by a power off and a power on; by a reboot when power off is disabled. */
export const bootRamdisk = (task: NodeTask): BootEffects => afterPowerOff(task, startRamdisk(task))

/** Like {@link bootRamdisk}, for the instance. */
export const bootInstance = (task: NodeTask): BootEffects => afterPowerOff(task, startInstance(task))

/** Like {@link bootRamdisk}, for inspection, which the agent starts by itself before it posts the inventory. */
export const bootInspectionRamdisk = (task: NodeTask): BootEffects =>
  afterPowerOff(task, powerOn(task, beforeRamdisk(task), inspectionRamdisk(task)))

const afterPowerOff = ({ node }: NodeTask, effects: BootEffects): BootEffects =>
  node.disable_power_off ? effects : [{ kind: 'power', target: 'power off' }, ...effects]

/** Starts the ramdisk of a machine that is off; reboots to it when power off is disabled. */
export const startRamdisk = (task: NodeTask): BootEffects =>
  powerOn(task, beforeRamdisk(task), ramdiskSource(task, kernelParameters(task)))

/** Like {@link startRamdisk}, where an instance was running (`rescue`, `service`). */
export const startRamdiskOverInstance = (task: NodeTask): BootEffects =>
  following(cleanUpInstance(task), startRamdisk(task))

/** Ends the ramdisk, and what it was booted from: by a power off, or with power off disabled by a reboot from disk. */
export function endRamdisk(task: NodeTask): BootEffects {
  const disk: BootSource = { kind: 'disk' }
  if (task.node.disable_power_off) return [{ kind: 'power', target: 'rebooting', boot: disk, ...mediaFor(task, disk) }]
  return [{ kind: 'power', target: 'power off' }, ...cleanUpRamdisk(task)]
}

/** Like {@link startRamdisk}, for the instance. */
export const startInstance = (task: NodeTask): BootEffects => powerOn(task, beforeInstance(task), instanceSource(task))

/** Has the machine boot its instance from the next power on. */
export function prepareInstance(task: NodeTask): BootEffects {
  const source = instanceSource(task)
  return following(beforeInstance(task), [{ kind: 'boot', source, ...mediaFor(task, source) }])
}

function powerOn(task: NodeTask, changes: readonly EffectBody[], boot: BootSource): BootEffects {
  const target = task.node.disable_power_off ? 'rebooting' : 'power on'
  return following(changes, [{ kind: 'power', target, boot, ...mediaFor(task, boot) }])
}

/** Effects after others, of which there may be none. */
function following([first, ...rest]: readonly EffectBody[], effects: BootEffects): BootEffects {
  return first ? [first, ...rest, ...effects] : effects
}

/** Parameters of an inspection (ironic 39.0.0 drivers/modules/inspector/interface.py prepare_managed_inspection). */
function inspectionRamdisk(task: NodeTask): BootSource {
  const { extraKernelParams, forceDhcp } = task.conf.inspection
  const lldp = forceDhcp ? { 'ipa-collect-lldp': '1' } : {}
  return ramdiskSource(task, {
    ...kernelParameters(task),
    ...lldp,
    ...extraKernelParams,
    'ipa-inspection-callback-url': `${task.situation.ironicUrl}/v1/continue_inspection`,
  })
}
