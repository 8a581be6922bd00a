import { textOf } from '../../../wire/index.js'
import type { BootSource } from '../../drivers/bmc.js'
import { ramdiskSource } from '../flows/deploy/deploy-images.js'
import type { EffectBody } from '../core/effects.js'
import type { NodeTask } from '../core/node-task.js'

/** Kernel parameters of every ramdisk. */
const kernelParameters = (task: NodeTask): Record<string, string> => ({ 'ipa-api-url': task.situation.ironicUrl })

/** Boot source of the node's instance: the disk, or the live image of the deploy interface `ramdisk`. */
export function instanceSource({ node, conf }: Pick<NodeTask, 'node' | 'conf'>): BootSource {
  const { deploy_interface, instance_info: info } = node
  if (deploy_interface !== 'ramdisk') return { kind: 'disk' }
  if (info.boot_iso && conf.fetchBootImages) return { kind: 'iso', url: textOf(info.boot_iso) }
  if (info.boot_iso) return { kind: 'live', image: { iso: textOf(info.boot_iso) } }
  return { kind: 'live', image: { kernel: textOf(info.kernel), ramdisk: textOf(info.ramdisk) } }
}

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
