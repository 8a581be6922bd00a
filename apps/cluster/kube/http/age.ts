import type { KubeJson } from '../kube-json.js'

/**
 * The time since a date, as kubectl writes ages: apimachinery pkg/util/duration/duration.go HumanDuration.
 *
 * @param now in milliseconds since the epoch
 */
export function formatAge(date: KubeJson, now: number): string {
  const since = typeof date === 'string' ? Date.parse(date) : NaN
  if (Number.isNaN(since)) return '<unknown>'
  const seconds = Math.trunc((now - since) / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return both(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return both(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (days < 8) return both(days, 'd', hours % 24, 'h')
  if (days < 2 * 365) return `${days}d`
  const years = Math.trunc(days / 365)
  return years < 8 ? both(years, 'y', days % 365, 'd') : `${years}y`
}

const both = (large: number, unit: string, small: number, smaller: string): string =>
  small === 0 ? `${large}${unit}` : `${large}${unit}${small}${smaller}`
