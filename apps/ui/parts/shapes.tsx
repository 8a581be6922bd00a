import type { Look } from '../state/looks.js'

/** The shape of each group in a square of 16: its points, or a circle. */
const PATHS: Readonly<Record<Look, string>> = {
  new: 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11zM8 4.7a3.3 3.3 0 1 1 0 6.6a3.3 3.3 0 1 1 0-6.6z',
  ready: 'M3 3h10v10h-10zM5.2 5.2v5.6h5.6v-5.6z',
  working: 'M8 1.5L14.5 8L8 14.5L1.5 8z',
  waiting: 'M3 2h10v1.5L9.3 8L13 12.5V14H3v-1.5L6.7 8L3 3.5z',
  active: 'M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12z',
  rescue: 'M8 1.5L14.5 6.3L12 14H4L1.5 6.3z',
  failed: 'M3.4 1.8L8 6.4l4.6-4.6l1.6 1.6L9.6 8l4.6 4.6l-1.6 1.6L8 9.6l-4.6 4.6l-1.6-1.6L6.4 8L1.8 3.4z',
}

/** The mark of a group of states. Its words stand beside it. */
export function Mark({ look }: { look: Look }) {
  return (
    <svg class={`mark look-${look}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path fill-rule="evenodd" d={PATHS[look]} />
    </svg>
  )
}

/** The same for a canvas. */
export const markPaths = (): Readonly<Record<Look, Path2D>> =>
  Object.fromEntries(Object.entries(PATHS).map(([look, path]) => [look, new Path2D(path)])) as Record<Look, Path2D>
