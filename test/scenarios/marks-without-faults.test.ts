import { expect, test } from 'vitest'
import { LabClient } from '../../control/index.js'
import { createStagedLab, installCoreos } from '../../lab/index.js'

test('the life of a node without a fault has no mark of a failure in its timeline', async () => {
  await using lab = await createStagedLab({
    clock: 'auto',
    seed: 7,
    ironic: { set: ['conductor.automated_clean=true'] },
  })
  const node = await lab.enroll({ deploySteps: [installCoreos()] })
  const client = new LabClient('http://lab.test', { fetch: lab.fetchAt('http://lab.test') })
  await node.deploy()
  expect((await node.settled()).provision_state).toBe('active')
  await node.provision('deleted')
  expect((await node.settled()).provision_state).toBe('available')
  const { marks } = await client.timeline(node.uuid)
  expect(marks.length).toBeGreaterThan(50)
  expect(marks.filter(({ isBad }) => isBad)).toEqual([])
})

test('a heartbeat that nobody answers, and a program that fails by a fault, are marked', async () => {
  await using lab = await createStagedLab({ clock: 'auto', seed: 7 })
  const node = await lab.enroll({ deploySteps: [installCoreos()] })
  const client = new LabClient('http://lab.test', { fetch: lab.fetchAt('http://lab.test') })
  lab.faults.add({ match: { node: node.uuid, program: 'umount' }, effect: { kind: 'exit-code', code: 32 }, times: 1 })
  lab.faults.add({ match: { node: node.uuid, phase: 'install' }, effect: { kind: 'agent-silent' } })
  await node.deploy()
  expect((await node.settled()).provision_state).toBe('deploy failed')
  const { marks } = await client.timeline(node.uuid)
  const bad = marks.filter(({ isBad }) => isBad).map(({ kind }) => kind)
  expect(bad).toContain('command')
  expect(bad).toContain('heartbeat')
})
