import { expect, test } from 'vitest'
import { createLab } from '../create-lab.js'
import { LabClient } from './lab-client.js'

test('time moves to the next change of a node, and no further', async () => {
  await using lab = await createLab({ clock: 'manual' })
  const node = await lab.enroll()
  const client = new LabClient('http://lab.test', { fetch: lab.fetchAt('http://lab.test') })
  lab.faults.add({ match: { node: node.uuid, bmc: 'read power' }, effect: { kind: 'delay', ms: 45_000 }, times: 1 })
  await lab.client.provision(node.uuid, 'manage')
  await lab.clock.idle()
  const { elapsed } = await client.advance({ next: true })
  expect(elapsed).toBe(45_000)
  expect((await client.node(node.uuid)).provision_state).toBe('manageable')
})

test('without any change within the time the call says so', async () => {
  await using lab = await createLab({ clock: 'manual' })
  const client = new LabClient('http://lab.test', { fetch: lab.fetchAt('http://lab.test') })
  await expect(client.advance({ next: true, within: '1ms' })).rejects.toMatchObject({
    code: 'not-reached',
    message: 'nothing changes within 1ms',
  })
})
