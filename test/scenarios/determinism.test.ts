import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createStagedLab, installCoreos } from '../../lab/index.js'
import { howMany } from '../kit/how-many.js'
import { journalOf } from '../kit/snapshots/lab-journal.js'

async function lifecycles(seed: number): Promise<string[]> {
  await using lab = await createStagedLab({ seed })
  const journal = journalOf(lab)
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
