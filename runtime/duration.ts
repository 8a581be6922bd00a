const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Pattern of the texts that {@link readDuration} takes, for schemas. */
export const DURATION_PATTERN = '^([0-9]+(\\.[0-9]+)?(ms|s|m|h|d))+$'

/**
 * Reads a length of time, as in `90s`, `31m` or `1h30m`; a number counts milliseconds.
 *
 * @returns milliseconds; undefined for another text
 */
export function readDuration(text: string | number): number | undefined {
  if (typeof text === 'number') return Number.isFinite(text) && text >= 0 ? text : undefined
  if (!new RegExp(DURATION_PATTERN).test(text)) return undefined
  let sum = 0
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ms|s|m|h|d)/g)) sum += Number(amount) * UNITS[unit as 's']
  return sum
}

/** `1h30m`, `31m`, `250ms` */
export function durationText(ms: number): string {
  if (ms < 1000) return `${ms}ms`
  let left = Math.round(ms / 1000)
  let text = ''
  for (const [unit, length] of [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ] as const) {
    if (left >= length) text += `${Math.floor(left / length)}${unit}`
    left %= length
  }
  return text
}
