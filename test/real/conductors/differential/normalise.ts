import type { Script } from './script.js'

export type Normal = (value: unknown) => unknown

const TIME = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?/g
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
/** Ids of database rows depend on the order of inserts: `portgroup 2 contains ports`. */
const ROW = /\b(node|port|portgroup|chassis|allocation|connector|target) \d+\b/gi

/** Replaces what differs between any two runs; a UUID that the script itself gave stays. */
export function normaliser(script: Script, side: { readonly url: string; readonly conductor: string }): Normal {
  const sent = new Set(JSON.stringify(script).match(UUID) ?? [])
  const word = (text: string) =>
    text
      .replaceAll(side.url, '{url}')
      .replaceAll(/req-[0-9a-f-]{36}/g, '{request}')
      .replaceAll(TIME, '{time}')
      .replaceAll(UUID, (uuid) => (sent.has(uuid) ? uuid : '{uuid}'))
      .replaceAll(ROW, '$1 {number}')
      // The attributes are named in the order of a set.
      .replaceAll(/(?<=connectivity attributes \()[^)]*/g, (names) => names.split(', ').sort().join(', '))
      .replaceAll(side.conductor, '{conductor}')
  const normal: Normal = (value) => {
    if (typeof value === 'string') return word(value)
    if (Array.isArray(value)) return value.map(normal)
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [word(key), tamed(key, normal(member))]))
    return value
  }
  return normal
}

/** Replaces a value that changes with every run. */
function tamed(key: string, value: unknown): unknown {
  // Ironic keeps these in sets, so each of its processes has an order of its own.
  if (/^enabled_\w+_interfaces$/.test(key) && Array.isArray(value)) return [...(value as unknown[])].sort()
  if (key === 'duration_seconds' && typeof value === 'number') return '{seconds}'
  if (key === 'agent_token' && typeof value === 'string' && value.length === 43) return '{token}'
  return value
}
