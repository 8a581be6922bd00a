import { expect, test } from 'vitest'
import { createLab, installCoreos, minutes } from '../../lab/index.js'

const ignition = { ignition: { version: '3.4.0' } }

test('a node whose agent goes silent fails its deployment after the callback timeout', async () => {
  await using lab = await createLab({ clock: 'auto', seed: 7 })
  const node = await lab.enroll({ deploySteps: [installCoreos({ ignition })] })
  lab.faults.add({ match: { node: node.uuid, phase: 'install' }, effect: { kind: 'agent-silent' } })

  await node.deploy()

  expect(await node.settled()).toMatchObject({
    provision_state: 'deploy failed',
    last_error: expect.stringContaining('Timeout reached while waiting for callback'),
  })
  expect(lab.clock.elapsed()).toBeGreaterThan(minutes(30))
})

test('a node is deployed', async () => {
  await using lab = await createLab({ logger: (level, message) => process.env['LAB_LOG'] && console.log(level, message), onEvent: (e) => process.env['LAB_LOG'] && console.log(e.kind === 'node' ? `${e.node.provision_state} ${e.node.power_state} ${e.node.last_error}` : JSON.stringify(e).slice(0, 200)) })
  const node = await lab.enroll({ deploySteps: [installCoreos({ ignition })] })
  await node.deploy()
  expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
})
