/** Settings of a systemd unit: `Service.ExecStart` to its values, in order. */
export type UnitSettings = ReadonlyMap<string, readonly string[]>

/**
 * Reads a unit and its drop-ins as systemd does (systemd.syntax(7)): a line that ends in a backslash continues in the
 * next one, comments between such lines are skipped, an empty value clears the earlier ones. Other lines are skipped.
 */
export function unitSettings(texts: readonly string[]): UnitSettings {
  const settings = new Map<string, string[]>()
  for (const text of texts) {
    let section = ''
    for (const line of logicalLines(text)) {
      if (line.startsWith('[') && line.endsWith(']')) section = line.slice(1, -1)
      const equals = line.indexOf('=')
      if (equals < 1 || line.startsWith('[')) continue
      const name = `${section}.${line.slice(0, equals).trimEnd()}`
      const value = line.slice(equals + 1).trimStart()
      const values = settings.get(name)
      if (value === '' || !values) settings.set(name, value === '' ? [] : [value])
      else values.push(value)
    }
  }
  return settings
}

function logicalLines(text: string): string[] {
  const lines: string[] = []
  let begun: string[] = []
  for (const raw of text.split('\n')) {
    const line = raw.trim()
    if (/^[#;]/.test(line)) continue
    begun.push(line.endsWith('\\') ? line.slice(0, -1) : line)
    if (line.endsWith('\\')) continue
    lines.push(begun.join(' ').trim())
    begun = []
  }
  return begun.length > 0 ? [...lines, begun.join(' ').trim()] : lines
}

/** The last value of a setting that has one. */
export const lastOf = (settings: UnitSettings, name: string): string | undefined => settings.get(name)?.at(-1)

const TIME_UNITS: Readonly<Record<string, number>> = {
  us: 0.001,
  usec: 0.001,
  ms: 1,
  msec: 1,
  s: 1000,
  sec: 1000,
  second: 1000,
  seconds: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
  hr: 3_600_000,
  hour: 3_600_000,
  hours: 3_600_000,
}

/** Converts a time span such as `5`, `5min 20s` or `infinity` to milliseconds; undefined for any other text. */
export function timeSpan(text: string): number | undefined {
  if (text.trim() === 'infinity') return Infinity
  const parts = [...text.matchAll(/\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*/gy)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined
  let sum = 0
  for (const [, amount, unit = ''] of parts) {
    const factor = unit === '' ? 1000 : Object.hasOwn(TIME_UNITS, unit) ? TIME_UNITS[unit] : undefined
    if (factor === undefined) return undefined
    sum += Number(amount) * factor
  }
  return sum
}
