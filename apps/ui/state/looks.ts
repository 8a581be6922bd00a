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

/** The name of each group in a legend, and the states that it has. */
export const LOOK_WORDS: Readonly<Record<Look, { name: string; states: string }>> = {
  new: { name: 'new', states: 'enroll; a machine of a fleet that is off' },
  ready: { name: 'ready', states: 'manageable, available' },
  working: { name: 'at work', states: 'deploying, cleaning, inspecting and other work of Ironic' },
  waiting: { name: 'waiting', states: 'wait call-back, clean wait and other waits for an agent' },
  active: { name: 'active', states: 'active; a machine of a fleet that is on' },
  rescue: { name: 'rescue', states: 'rescue' },
  failed: { name: 'failed', states: 'deploy failed, clean failed and other failures; error' },
}
