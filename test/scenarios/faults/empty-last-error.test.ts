import { expect, test } from 'vitest'
import { createStagedLab, type StagedLab, type StagedNode } from '../../../lab/index.js'

const ABORTED = 'Inspection was aborted by request.'

/** A node whose inspection was aborted. */
async function failedNode(lab: StagedLab): Promise<StagedNode> {
  const node = await lab.enroll()
  lab.faults.add({ match: { node: node.uuid }, effect: { kind: 'agent-silent' } })
  await node.provision('manage')
  await node.settled()
  await node.provision('inspect')
  await node.until(({ provision_state: state, reservation }) => state === 'inspect wait' && reservation === null)
  await node.provision('abort')
  await node.until(({ provision_state: state }) => state === 'inspect failed')
  return node
}

test('empty-last-error hides the reason of a failure from clients, of its node and its calls alone', async () => {
  await using lab = await createStagedLab()
  const hidden = await failedNode(lab)
  const shown = await failedNode(lab)
  expect((await hidden.get()).last_error).toBe(ABORTED)

  const fault = {
    match: { node: hidden.uuid, route: 'GET /v1/nodes/:id' },
    effect: { kind: 'empty-last-error' },
  } as const
  const { id } = lab.faults.add(fault)
  expect(await hidden.get()).toMatchObject({ provision_state: 'inspect failed', last_error: '' })
  expect((await shown.get()).last_error).toBe(ABORTED)
  // Another route: the list of the same client.
  const listed = await lab.client.nodes()
  expect(listed.find(({ uuid }) => uuid === hidden.uuid)).toMatchObject({ provision_state: 'inspect failed' })
  expect(lab.faults.list().find((each) => each.id === id)).toMatchObject({ struck: 1 })

  // The record itself is as it was.
  lab.faults.clear()
  expect((await hidden.get()).last_error).toBe(ABORTED)
  await hidden.provision('manage')
  expect(await hidden.settled()).toMatchObject({ provision_state: 'manageable' })
})

test('empty-last-error strikes as often as it says', async () => {
  await using lab = await createStagedLab()
  const node = await failedNode(lab)
  lab.faults.add({ match: { node: node.uuid }, effect: { kind: 'empty-last-error' }, times: 1 })
  expect((await node.get()).last_error).toBe('')
  expect((await node.get()).last_error).toBe(ABORTED)
})
