import { textOf } from '../../../wire/index.js'
import type { BootSource } from '../../drivers/bmc.js'
import { ramdiskSource } from '../flows/deploy/deploy-images.js'
import type { EffectBody } from '../core/effects.js'
import type { NodeTask } from '../core/node-task.js'

/** Where a ramdisk that was booted to work reports to. */
const parameters = (task: NodeTask): Record<string, string> => ({ 'ipa-api-url': task.situation.ironicUrl })

/** What the node's instance is booted from: the disk, or what the interface `ramdisk` runs from memory. */
export function instanceSource({ node, policy }: Pick<NodeTask, 'node' | 'policy'>): BootSource {
  const { deploy_interface, instance_info: info } = node
  if (deploy_interface !== 'ramdisk') return { kind: 'disk' }
  if (info.boot_iso && policy.fetchBootImages) return { kind: 'iso', url: textOf(info.boot_iso) }
  if (info.boot_iso) return { kind: 'live', image: { iso: textOf(info.boot_iso) } }
  return { kind: 'live', image: { kernel: textOf(info.kernel), ramdisk: textOf(info.ramdisk) } }
}

/** Off and, with the ramdisk as the boot source, on again; in one where the node may not be off. */
export const bootRamdisk = (task: NodeTask): [EffectBody, ...EffectBody[]] => reboot(task, startRamdisk(task))

/** The same into what is installed. */
export const bootInstance = (task: NodeTask): [EffectBody, ...EffectBody[]] =>
  reboot(task, { kind: 'power', target: 'power on', boot: instanceSource(task) })

function reboot({ node }: NodeTask, start: Extract<EffectBody, { kind: 'power' }>): [EffectBody, ...EffectBody[]] {
  if (node.disable_power_off) return [{ ...start, target: 'rebooting' }]
  return [{ kind: 'power', target: 'power off' }, start]
}

export const startRamdisk = (task: NodeTask): Extract<EffectBody, { kind: 'power' }> => ({
  kind: 'power',
  target: 'power on',
  boot: ramdiskSource(task, parameters(task)),
})

/** The same for inspection, which starts in the ramdisk by itself and posts what it found. */
export const startInspectionRamdisk = (task: NodeTask): Extract<EffectBody, { kind: 'power' }> => ({
  kind: 'power',
  target: 'power on',
  boot: ramdiskSource(task, {
    ...parameters(task),
    'ipa-inspection-callback-url': `${task.situation.ironicUrl}/v1/continue_inspection`,
  }),
})
