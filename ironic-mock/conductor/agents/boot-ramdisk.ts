import type { BootSource } from '../../drivers/bmc.js'
import { deployInterface } from '../../drivers/deploy/deploy-interfaces.js'
import { ramdiskSource } from '../flows/deploy/deploy-images.js'
import type { EffectBody } from '../core/effects.js'
import type { NodeTask } from '../core/node-task.js'

/** Kernel parameters of every ramdisk. */
const kernelParameters = (task: NodeTask): Record<string, string> => ({ 'ipa-api-url': task.situation.ironicUrl })

/** Boot source of the node's instance: the disk, or the live image of a deploy interface that runs one. */
export const instanceSource = ({ node, conf }: Pick<NodeTask, 'node' | 'conf'>): BootSource =>
  deployInterface(node).instanceSource?.(node, { fetchesImages: conf.fetchBootImages }) ?? { kind: 'disk' }

/** Boots the ramdisk by a power off and a power on; by a reboot when power off is disabled. */
export const bootRamdisk = (task: NodeTask): [EffectBody, ...EffectBody[]] => reboot(task, startRamdisk(task))

/** Like {@link bootRamdisk}, for the instance. */
export const bootInstance = (task: NodeTask): [EffectBody, ...EffectBody[]] =>
  reboot(task, { kind: 'power', target: 'power on', boot: instanceSource(task) })

function reboot({ node }: NodeTask, start: Extract<EffectBody, { kind: 'power' }>): [EffectBody, ...EffectBody[]] {
  if (node.disable_power_off) return [{ ...start, target: 'rebooting' }]
  return [{ kind: 'power', target: 'power off' }, start]
}

export const startRamdisk = (task: NodeTask): Extract<EffectBody, { kind: 'power' }> => ({
  kind: 'power',
  target: 'power on',
  boot: ramdiskSource(task, kernelParameters(task)),
})

/** Like {@link startRamdisk}, for inspection, which the agent starts by itself before it posts the inventory. */
export const startInspectionRamdisk = (task: NodeTask): Extract<EffectBody, { kind: 'power' }> => ({
  kind: 'power',
  target: 'power on',
  boot: ramdiskSource(task, {
    ...kernelParameters(task),
    'ipa-inspection-callback-url': `${task.situation.ironicUrl}/v1/continue_inspection`,
  }),
})
