import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { chaos, chaosTest, faultsYaml } from '../../../lab/index.js'

/** Seeds that are played; the first whose run fails is shrunk. */
const SEEDS = Number(process.env['CHAOS_SEEDS'] ?? 60)
const FIRST = Number(process.env['SOAK_SEED'] ?? 1000)

test('nothing that must hold is broken by random faults in random deployments', async () => {
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const { violations, shortest } = await chaos({ seed, nodes: 3 })
    if (shortest) {
      const { plan, violation } = shortest
      console.log(`${faultsYaml(plan, violation)}\n${chaosTest(plan, violation)}`)
      const found = process.env['CHAOS_FOUND']
      if (found !== undefined) writeFileSync(found, JSON.stringify(shortest))
    }
    expect(violations, `seed ${seed}`).toEqual([])
  }
})
