import { beforeEach, expect, test } from 'vitest'
import { seededRandom } from '../../../base/runtime/index.js'
import { LabOfHosts } from '../lab/lab-of-hosts.js'
import { labOfTests } from '../lab/lab-of-tests.js'
import { tool } from '../peers.js'

/** The soak has 30 runs, each killed once. */
const KILLS = 4
const SERVED = ['--serve-image', '127.0.0.1']
const SEED = Number(process.env['SOAK_SEED'] ?? 18)

const labOf = labOfTests()
let lab: LabOfHosts
beforeEach(() => {
  lab = labOf()
  return lab.reset()
})

test('six hosts, four of them in trouble: the report names each trouble, and no other disk changes', async () => {
  const before = await lab.digests()
  using _ = lab.troubles()
  expect(await lab.run().ended, lab.stderr).toBe(1)
  lab.expectEnds()
  expect(await lab.digests()).toEqual(before)
  expect(await lab.secretsIn()).toEqual([])
  for (const host of lab.hosts.values())
    expect([host.name, await host.installs()]).toEqual([host.name, host.name === 'wrong-disk' ? 0 : 1])
})

test(`a run over them that serves their image, is killed at ${KILLS} random moments and goes on, ends the same`, async () => {
  const before = await lab.digests()
  const random = seededRandom(SEED)
  using _ = lab.troubles()
  let kills = 0
  for (; kills < KILLS; kills++) if (!(await lab.killedAfter(500 + random.next() * 3000, SERVED))) break
  if (kills === KILLS) expect(await lab.goesOn(SERVED), lab.stderr).toBe(1)
  expect(kills).toBeGreaterThan(KILLS / 2)
  lab.expectEnds()
  expect(await lab.digests()).toEqual(before)
  // An image that was on its way when the run was killed is sent again; the program that got half of it has ended then.
  for (const host of lab.hosts.values()) {
    const installs = await host.installs()
    if (host.name === 'wrong-disk') expect(installs).toBe(0)
    else expect(installs, host.name).toBeGreaterThanOrEqual(1)
  }
})

test('a lab whose opening is cut leaves no loop device attached', async () => {
  const attached = async () => {
    const { stdout } = await tool('losetup', '--list', '--noheadings', '--output', 'NAME,BACK-FILE')
    return new Set(stdout.split('\n').filter((line) => /\/ironstage-(lab|tmp)-/.test(line)))
  }
  const before = await attached()
  const cut = new AbortController()
  const opening = LabOfHosts.open(cut.signal)
  opening.catch(() => {})
  while ((await attached()).size < before.size + 2) await new Promise((resolve) => setTimeout(resolve, 20))
  cut.abort(new Error('cut'))
  await expect(opening).rejects.toThrow('cut')
  expect(await attached()).toEqual(before)
})
