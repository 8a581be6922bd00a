import { expect, test } from 'vitest'
import { createStagedLab, installCoreos } from '../index.js'
import { LabClient } from '../../control/index.js'

test('hours of a silent agent that fill the journal leave the first cause of its failure', async () => {
  await using lab = await createStagedLab({ clock: 'auto', journal: { capacity: 150 } })
  const node = await lab.enroll({ deploySteps: [installCoreos({ ignition: { ignition: { version: '3.4.0' } } })] })
  const client = new LabClient('http://lab.test', { fetch: lab.fetchAt('http://lab.test') })
  const { id } = lab.faults.add({ match: { node: node.uuid, phase: 'install' }, effect: { kind: 'agent-silent' } })
  await node.deploy()
  expect((await node.settled()).provision_state).toBe('deploy failed')
  const failedAt = lab.clock.now()
  await lab.clock.advance(4 * 3_600_000)
  const { causes, isCut, since } = await client.timeline(node.uuid)
  expect(isCut).toBe(true)
  expect(Date.parse(since!)).toBeGreaterThan(failedAt)
  const texts = causes.map(({ text }) => text)
  expect(texts).toContain("the agent's last heartbeat came before")
  expect(texts.at(-1)).toBe(`${id} struck: agent-silent`)
  for (const { at } of causes) expect(Date.parse(at!)).toBeLessThanOrEqual(failedAt)
})
