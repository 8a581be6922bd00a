import type { NodeTimeline } from '../../../control/index.js'

/**
 * Makes times of this computer of lab times, by the times that are known by both clocks. Before and after them both
 * clocks pass evenly.
 */
export function wallTimes(
  walls: NodeTimeline['walls'],
  present: { lab: number; wall: number },
): (lab: number) => number {
  const known = [...walls.map(({ lab, wall }) => ({ lab: Date.parse(lab), wall: Date.parse(wall) })), present]
  return (time) => {
    const at = known.findIndex(({ lab }) => lab >= time)
    const before = known[at - 1]
    const after = known[at]
    if (!before || !after) {
      const { lab, wall } = after ?? known.at(-1)!
      return time - lab + wall
    }
    const share = (time - before.lab) / (after.lab - before.lab)
    return before.wall + share * (after.wall - before.wall)
  }
}
