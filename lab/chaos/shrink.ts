/**
 * Finds a short part of a list for which something still holds, by delta debugging: halves, quarters and so on are left
 * out as long as it holds without them. Leaving out any one more item makes it fail to hold.
 */
export async function shrinkList<T>(
  items: readonly T[],
  holds: (part: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let shortest = items
  if (shortest.length > 0 && (await holds([]))) return []
  for (let parts = 2; shortest.length > 1;) {
    const size = Math.ceil(shortest.length / parts)
    let shorter: readonly T[] | undefined
    for (let from = 0; from < shortest.length && !shorter; from += size) {
      const rest = [...shortest.slice(0, from), ...shortest.slice(from + size)]
      if (rest.length > 0 && (await holds(rest))) shorter = rest
    }
    if (shorter) {
      shortest = shorter
      parts = Math.max(2, parts - 1)
    } else if (size === 1) return shortest
    else parts = Math.min(shortest.length, parts * 2)
  }
  return shortest
}
