import { countText } from '../../../base/runtime/index.js'
import type { DifferenceGroup } from './difference.js'
import { sentenceOf } from './difference.js'

/** `#1 GET /v1/nodes: body.nodes is missing, was [] (and in #3)` */
export function differenceLine({ first, seqs }: DifferenceGroup): string {
  const more = seqs.length > 1 ? ` (and in ${rangesText(seqs.slice(1))})` : ''
  return `#${first.seq} ${first.call}: ${sentenceOf(first)}${more}`
}

/** `2 calls, 1 difference, 3 known` */
export const sumLine = (calls: number, differences: number, known: number): string =>
  `${countText(calls, 'call')}, ${countText(differences, 'difference')}${known > 0 ? `, ${known} known` : ''}`

/** `#3, #5 to #9 and 12 more` */
export function rangesText(numbers: readonly number[]): string {
  const found: [number, number][] = []
  for (const number of numbers) {
    const last = found.at(-1)
    if (last && number === last[1] + 1) last[1] = number
    else if (!last || number !== last[1]) found.push([number, number])
  }
  const texts = found
    .slice(0, MAX_PRINTED_RANGES)
    .map(([from, to]) => (from === to ? `#${from}` : `#${from} to #${to}`))
  const more = found.slice(MAX_PRINTED_RANGES).reduce((sum, [from, to]) => sum + to - from + 1, 0)
  return more > 0 ? `${texts.join(', ')} and ${more} more` : texts.join(', ')
}
const MAX_PRINTED_RANGES = 5
