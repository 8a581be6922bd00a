/** Groups of provision states that are drawn alike: by a colour and by a shape. */
export const LOOKS = ['new', 'ready', 'working', 'waiting', 'active', 'rescue', 'failed'] as const

export type Look = (typeof LOOKS)[number]

/** Words for a group, as in a legend. */
export const LOOK_WORDS: Readonly<Record<Look, string>> = {
  new: 'enrolled or off',
  ready: 'manageable or available',
  working: 'at work',
  waiting: 'waiting',
  active: 'active or on',
  rescue: 'rescued',
  failed: 'failed',
}

export function lookOf(state: string): Look {
  if (state.endsWith('failed') || state.endsWith('fail') || state === 'error') return 'failed'
  if (state.includes('wait') || state.endsWith('hold')) return 'waiting'
  if (state === 'active' || state === 'on') return 'active'
  if (state === 'rescue') return 'rescue'
  if (state === 'manageable' || state === 'available') return 'ready'
  if (state === 'enroll' || state === 'off') return 'new'
  return 'working'
}
