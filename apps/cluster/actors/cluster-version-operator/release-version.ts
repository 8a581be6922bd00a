/** A version of the cluster: `4.13.0`, `4.14.0-rc.2`. */
interface ReleaseVersion {
  numbers: readonly [number, number, number]
  /** Empty for a release that is no candidate. */
  candidate: readonly string[]
}

/** Reads a semantic version; undefined for another text. */
export function readVersion(text: string): ReleaseVersion | undefined {
  const [, major, minor, patch, candidate] = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/.exec(text) ?? []
  if (major === undefined) return undefined
  return {
    numbers: [Number(major), Number(minor), Number(patch)],
    candidate: candidate === undefined ? [] : candidate.split('.'),
  }
}

export const isSameMinor = (a: string, b: string): boolean => {
  const one = readVersion(a)?.numbers
  const other = readVersion(b)?.numbers
  return one?.[0] === other?.[0] && one?.[1] === other?.[1]
}

/** Whether the first of two versions is older (semver.org, rule 11); false if either is not a version. */
export function isOlder(a: string, b: string): boolean {
  const one = readVersion(a)
  const other = readVersion(b)
  if (!one || !other) return false
  for (const [index, number] of one.numbers.entries())
    if (number !== other.numbers[index]) return number < other.numbers[index]!
  return isOlderCandidate(one.candidate, other.candidate)
}

function isOlderCandidate(a: readonly string[], b: readonly string[]): boolean {
  // A candidate is older than the release that it becomes.
  if (a.length === 0 || b.length === 0) return a.length > b.length
  for (const [index, part] of a.entries()) {
    const other = b[index]
    if (other === undefined) return false
    if (part === other) continue
    const isNumber = /^\d+$/.test(part)
    const isOtherNumber = /^\d+$/.test(other)
    if (isNumber && isOtherNumber) return Number(part) < Number(other)
    return isNumber === isOtherNumber ? part < other : isNumber
  }
  return a.length < b.length
}
