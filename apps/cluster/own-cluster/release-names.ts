import { readVersion } from '../actors/cluster-version-operator/release-version.js'

/** Version of CoreOS in the name of a node's system: `Red Hat Enterprise Linux CoreOS 9.6.20250826-1 (Plow)`. */
export const coreosOfSystem = (osImage: string): string | undefined => /(\d+\.\d+\.\d{8,12}-\d+)/.exec(osImage)?.[1]

/** Number of the month in dates of builds: `20250826`, `202508261122`. */
const BUILD_DATE = /\.(\d{4})(\d{2})(\d{2})(\d*)-(\d+)$/

/**
 * A version of CoreOS for a made release: the one before with a later build date, and with the numbers of a release where the
 * version has them (`418.94.202501010000-0`).
 */
export function madeCoreosVersion(before: string, release: string): string {
  const {
    numbers: [major, minor, patch],
  } = readVersion(release) ?? { numbers: [4, 0, 0] as const }
  const dated = before.replace(BUILD_DATE, (_all, year: string, month: string, day: string, time: string) => {
    const months = Number(year) * 12 + Number(month) - 1 + 4 + patch
    const next = `${Math.floor(months / 12)}${String((months % 12) + 1).padStart(2, '0')}`
    return `.${next}${day}${time}-0`
  })
  return /^\d{3,}\./.test(dated) ? dated.replace(/^\d+/, `${major}${minor}`) : dated
}

/** Number of minor releases that an upgrade passes over; 0 between neighbours and within one minor. */
export function skippedMinors(from: string, to: string): number {
  const one = readVersion(from)?.numbers
  const other = readVersion(to)?.numbers
  if (!one || !other || one[0] !== other[0]) return 0
  return Math.max(0, other[1] - one[1] - 1)
}

/** `4.22.0` after `4.21.7` */
export function nextMinor(version: string): string {
  const [major, minor] = readVersion(version)?.numbers ?? [4, 0, 0]
  return `${major}.${minor + 1}.0`
}
