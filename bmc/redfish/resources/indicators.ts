import type { Machine } from '../../../machine/index.js'
import { choiceCheck } from '../protocol/value-checks.js'

const STATES = { on: 'Lit', off: 'Off', blinking: 'Blinking' } as const

/** Parts of a machine with an indicator; drives have one each. */
type IndicatorPart = 'system' | 'chassis' | 'drive'

/** Check of an `IndicatorLED`. */
export const indicatorCheck = choiceCheck(Object.values(STATES))

export const indicatorOf = ({ firmware }: Machine, component: IndicatorPart, name = 'LED'): string =>
  STATES[firmware.indicator(component, name) as keyof typeof STATES]

export async function setIndicator(
  { firmware }: Machine,
  component: IndicatorPart,
  wanted: unknown,
  name = 'LED',
): Promise<void> {
  const [state] = Object.entries(STATES).find(([, value]) => value === wanted)!
  await firmware.setIndicator(component, name, state)
}
