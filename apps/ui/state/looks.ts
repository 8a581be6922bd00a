/** Groups of provision states that are drawn alike: by a colour and by a shape. */
export const LOOKS = ['new', 'ready', 'working', 'waiting', 'active', 'rescue', 'failed'] as const

export type Look = (typeof LOOKS)[number]

export function lookOf(state: string): Look {
  if (state.endsWith('failed') || state.endsWith('fail') || state === 'error') return 'failed'
  if (state.includes('wait') || state.endsWith('hold')) return 'waiting'
  if (state === 'active' || state === 'on') return 'active'
  if (state === 'rescue') return 'rescue'
  if (state === 'manageable' || state === 'available') return 'ready'
  if (state === 'enroll' || state === 'off') return 'new'
  return 'working'
}
