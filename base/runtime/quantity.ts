/** Milliseconds of a unit of time. */
const TIMES = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Pattern of the texts that {@link readDuration} takes, for schemas. */
export const DURATION_PATTERN = '^([0-9]+(\\.[0-9]+)?(ms|s|m|h|d))+$'

/** Pattern of one such text, or of two with `..` between them: `60s..1m30s`. */
export const DURATION_RANGE_PATTERN = `${DURATION_PATTERN.slice(0, -1)}(\\.\\.${DURATION_PATTERN.slice(1, -1)})?$`

/**
 * Reads a length of time, as in `90s`, `31m` or `1h30m`; a number counts milliseconds.
 *
 * @returns milliseconds; undefined for another text
 */
export function readDuration(text: string | number): number | undefined {
  if (typeof text === 'number') return Number.isFinite(text) && text >= 0 ? text : undefined
  if (!new RegExp(DURATION_PATTERN).test(text)) return undefined
  let sum = 0
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ms|s|m|h|d)/g)) sum += Number(amount) * TIMES[unit as 's']
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

/** A measured length of time: `12 ms`, `1.2 s`, `3m05s`, `1h02m`. */
export function elapsedText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`
  return `${Math.floor(seconds / 3600)}h${two((seconds % 3600) / 60)}m`
}

/** Bytes of the binary units of size. */
export const KIB = 2 ** 10
export const MIB = 2 ** 20
export const GIB = 2 ** 30

/** Bytes of a unit of size, in capitals. */
const SIZES: Record<string, number> = {
  '': 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KIB,
  MIB,
  GIB,
  TIB: 2 ** 40,
}

/** Bytes of a size as `--disk-size` takes it, rounded down to a whole MiB as disks are. */
export function parseSize(text: string): number {
  const [, number, unit] = /^([0-9.]+) ?([A-Za-z]*)$/.exec(text) ?? []
  const bytes = Number(number) * (SIZES[(unit ?? '').toUpperCase()] ?? NaN)
  return Math.floor(bytes / 2 ** 20) * 2 ** 20
}

/** `512 B`, `1.5 GiB` */
export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const unit = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** unit
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[unit]}`
}
