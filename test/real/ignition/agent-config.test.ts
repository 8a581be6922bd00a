import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { agentConfig } from '../../../ignition/index.js'
import { agentOptions } from '../../kit/agent-config-options.js'
import { realIgnition, type AskIgnition } from './peer.js'

let ask: AskIgnition
beforeAll(async () => {
  ask = await realIgnition()
})

test('Ignition takes every config that runs the agent, without a warning', async () => {
  const options = fc.sample(agentOptions, { numRuns: 2000, seed: 7 })
  const texts = options.map((given) => JSON.stringify(agentConfig(given)))
  const answers = await ask(texts.map((text) => [text]))
  const refused = answers.flatMap(({ error, report }, index) =>
    error === null && report === '' ? [] : [{ error, report, options: options[index] }],
  )
  expect(refused).toEqual([])
  expect(answers).toHaveLength(2000)
})
