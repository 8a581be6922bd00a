import { stringify } from 'yaml'
import { durationText } from '../../base/runtime/index.js'
import { faultDocument } from '../../control/index.js'
import type { InvariantViolation } from './invariants.js'
import type { ChaosPlan } from './chaos-plan.js'

/** The faults of a plan as a file for `ironstage up --faults` and `ironstage chaos --faults`. */
export function faultsYaml(
  { faults, seed, nodes, duration }: ChaosPlan,
  { invariant, node, seen }: InvariantViolation,
): string {
  const where = node === null ? '' : `${node}: `
  return [
    `# ${invariant}: ${where}${seen.split('\n')[0]!}`,
    `# ${commandText({ seed, nodes, duration })}`,
    stringify({ faults: faults.map(faultDocument) }, { aliasDuplicateObjects: false }),
  ].join('\n')
}

const commandText = ({ seed, nodes, duration }: Pick<ChaosPlan, 'seed' | 'nodes' | 'duration'>): string =>
  `of seed ${seed}, ${nodes.join(' and ')}, ${durationText(duration)} of lab time`

/** A test for vitest that plays a plan again. */
export function chaosTest(
  { seed, nodes, duration, actions, faults }: ChaosPlan,
  { invariant, node }: InvariantViolation,
): string {
  const shown = (value: unknown): string => JSON.stringify(value, null, 2).replaceAll('\n', '\n    ')
  const title = JSON.stringify(`${node ?? 'the lab'}: ${invariant}`)
  return `import { chaos } from 'ironstage/control'
import { expect, test } from 'vitest'

test(${title}, async () => {
  const { violations } = await chaos({
    seed: ${seed},
    nodes: ${JSON.stringify(nodes)},
    duration: ${duration},
    faults: ${shown(faults)},
    actions: ${shown(actions)},
    shrink: false,
  })
  expect(violations).toEqual([])
}, 120_000)
`
}
