import { afterAll, beforeAll, expect, test } from 'vitest'
import { openstackClients } from './baremetal.js'
import { FUNCTIONAL_TESTS, functionalTests } from './functional.js'
import { INSTALLATION, served, type ServedIronic } from './served.js'

let ironic: ServedIronic
beforeAll(async () => {
  await openstackClients()
  // As the project's own runs have it: fake hardware with fake interfaces, of which nothing is a machine.
  ironic = await served({ profile: 'upstream' })
}, INSTALLATION)
afterAll(() => ironic?.[Symbol.asyncDispose]())

test('all of its own functional tests for bare metal pass', async () => {
  const outcomes = await functionalTests(ironic.url)
  expect(outcomes.filter(({ outcome }) => outcome !== 'passed')).toEqual([])
  expect(outcomes).toHaveLength(FUNCTIONAL_TESTS)
})
