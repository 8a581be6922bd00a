import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createStagedLab, installCoreos, type StagedLabOptions } from '../../../lab/index.js'
import { howMany } from '../../kit/how-many.js'
import { journalOf } from '../../kit/snapshots/lab-journal.js'

/** @param looks whether a client also looks at the nodes on the way */
async function lifecycles(seed: number, looks = false, options: StagedLabOptions = {}): Promise<string[]> {
  await using lab = await createStagedLab({ ...options, seed })
  const journal = journalOf(lab)
  if (looks)
    lab.events.listen((event) => {
      if (event.kind === 'node') void lab.client.node(event.node.uuid)
    })
  const deploySteps = [installCoreos({ append_karg: ['quiet'] })]
  const nodes = [await lab.enroll({ deploySteps }), await lab.enroll({ deploySteps })]
  lab.faults.add({ match: { program: 'lsblk' }, effect: { kind: 'delay', ms: 100 }, probability: 0.5 })
  await Promise.all(nodes.map((node) => node.deploy()))
  await Promise.all(nodes.map((node) => node.settled()))
  await nodes[0]!.provision('deleted')
  await nodes[0]!.settled()
  return journal
}

test('the same seed and calls give the same journal, to the byte, and another seed another one', async () => {
  const first = await lifecycles(1)
  const digest = (journal: string[]) => createHash('sha256').update(journal.join('\n')).digest('hex')
  for (let run = 1; run < howMany(4, 1000); run++) {
    const again = await lifecycles(1)
    if (digest(again) !== digest(first)) expect(again).toEqual(first)
  }
  expect(first.length).toBeGreaterThan(500)
  expect(digest(await lifecycles(2))).not.toBe(digest(first))
})

const events = (journal: string[]) => journal.filter((line) => line.includes('{"kind":"node"'))

test('the same happens in a lab that keeps neither a journal nor what its callers do', async () => {
  const unkept = await lifecycles(1, false, { journal: { capacity: 0 }, rewinds: false })
  expect(unkept).toEqual(await lifecycles(1))
})

test('a look at a node changes nothing of what follows', async () => {
  expect(events(await lifecycles(1, true))).toEqual(events(await lifecycles(1)))
})

test('an answer has ids of its own, also that of a call that reads', async () => {
  await using lab = await createStagedLab({ seed: 1 })
  const idOf = async (method: string) =>
    (await lab.dispatch({ method, target: '/v1/nodes', headers: {}, base: lab.url })).headers['x-openstack-request-id']
  const ids = [await idOf('GET'), await idOf('GET'), await idOf('HEAD'), await idOf('POST'), await idOf('POST')]
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^req-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
