import { textOf } from '../../../wire/index.js'
import type { BootSource } from '../../drivers/bmc.js'
import { ramdiskSource } from '../flows/deploy/deploy-images.js'
import type { EffectBody } from '../core/effects.js'
import type { Turn } from '../core/turn.js'

/** Where a ramdisk that was booted to work reports to. */
const parameters = (turn: Turn): Record<string, string> => ({ 'ipa-api-url': turn.situation.ironicUrl })

/** What the node's instance is booted from: the disk, or what the interface `ramdisk` runs from memory. */
export function instanceSource({ node, policy }: Pick<Turn, 'node' | 'policy'>): BootSource {
  const { deploy_interface, instance_info: info } = node
  if (deploy_interface !== 'ramdisk') return { kind: 'disk' }
  if (info.boot_iso && policy.fetchBootImages) return { kind: 'iso', url: textOf(info.boot_iso) }
  if (info.boot_iso) return { kind: 'live', image: { iso: textOf(info.boot_iso) } }
  return { kind: 'live', image: { kernel: textOf(info.kernel), ramdisk: textOf(info.ramdisk) } }
}

/** Off and, with the ramdisk as the boot source, on again; in one where the node may not be off. */
export const bootRamdisk = (turn: Turn): [EffectBody, ...EffectBody[]] => reboot(turn, startRamdisk(turn))

/** The same into what is installed. */
export const bootInstance = (turn: Turn): [EffectBody, ...EffectBody[]] =>
  reboot(turn, { kind: 'power', target: 'power on', boot: instanceSource(turn) })

function reboot({ node }: Turn, start: Extract<EffectBody, { kind: 'power' }>): [EffectBody, ...EffectBody[]] {
  if (node.disable_power_off) return [{ ...start, target: 'rebooting' }]
  return [{ kind: 'power', target: 'power off' }, start]
}

export const startRamdisk = (turn: Turn): Extract<EffectBody, { kind: 'power' }> => ({
  kind: 'power',
  target: 'power on',
  boot: ramdiskSource(turn, parameters(turn)),
})

/** The same for inspection, which starts in the ramdisk by itself and posts what it found. */
export const startInspectionRamdisk = (turn: Turn): Extract<EffectBody, { kind: 'power' }> => ({
  kind: 'power',
  target: 'power on',
  boot: ramdiskSource(turn, {
    ...parameters(turn),
    'ipa-inspection-callback-url': `${turn.situation.ironicUrl}/v1/continue_inspection`,
  }),
})
