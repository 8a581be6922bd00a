import { expect, test } from 'vitest'
import { createLab } from './create-lab.js'

test('a lab that listens is reached by its URL', async () => {
  await using lab = await createLab({ clock: 1, listen: { host: '127.0.0.1', port: 0 } })
  const node = await lab.enroll()

  const answer = await fetch(`${lab.url}/v1/nodes`)

  expect(await answer.json()).toMatchObject({ nodes: [{ uuid: node.uuid }] })
})

test('a lab shows what a test needs and nothing of its parts', async () => {
  await using lab = await createLab()
  const members = [
    'url',
    'client',
    'clock',
    'events',
    'faults',
    'journal',
    'registry',
    'snapshots',
    'spec',
    'enroll',
    'node',
    'wait',
    'fetchAt',
  ]
  expect(Object.keys(lab).sort()).toEqual(members.sort())
})

test('a realistic machine takes minutes of lab time to boot its ramdisk', async () => {
  await using lab = await createLab({ realistic: true })
  const node = await lab.enroll()
  await node.provision('manage')
  await node.settled()
  const begun = lab.clock.elapsed()

  await node.provision('inspect')

  expect(await node.settled()).toMatchObject({ provision_state: 'manageable', last_error: null })
  expect(lab.clock.elapsed() - begun).toBeGreaterThan(180_000)
})
