import type { EffectBody } from './effects.js'
import type { Turn } from './turn.js'

/** Where a ramdisk that was booted to work reports to. */
const parameters = (turn: Turn): Record<string, string> => ({ 'ipa-api-url': turn.situation.ironicUrl })

/** Off and, with the ramdisk as the boot source, on again. */
export const bootRamdisk = (turn: Turn): [EffectBody, EffectBody] => [
  { kind: 'power', target: 'power off' },
  startRamdisk(turn),
]

export const startRamdisk = (turn: Turn): EffectBody => ({
  kind: 'power',
  target: 'power on',
  boot: { kind: 'ramdisk', parameters: parameters(turn) },
})

/** The same for inspection, which starts in the ramdisk by itself and posts what it found. */
export const startInspectionRamdisk = (turn: Turn): EffectBody => ({
  kind: 'power',
  target: 'power on',
  boot: {
    kind: 'ramdisk',
    parameters: {
      ...parameters(turn),
      'ipa-inspection-callback-url': `${turn.situation.ironicUrl}/v1/continue_inspection`,
    },
  },
})
