import type { Fault } from './fault.js'

/** A fault's effect in words: `status status=503`. */
export function effectText({ effect }: Pick<Fault, 'effect'>): string {
  const { kind, ...members } = effect
  return [kind, ...membersText(members)].join(' ')
}

/** `node=node-3` for each member. */
export const membersText = (record: object): string[] =>
  Object.entries(record).map(
    ([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
  )
