import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LabClient } from '../../../control/index.js'
import { defined, seededRandom, silent, systemClock } from '../../../base/runtime/index.js'
import { pageCall } from '../../../test/kit/api/page-call.js'
import { newHostState } from '../pipeline/run-state.js'
import { RunFollower } from './run-follower.js'
import { openRunPage } from './run-page.js'

const parts = () => ({ clock: systemClock(), random: seededRandom(1), logger: silent })

async function opened(folder?: string) {
  const follower = new RunFollower({ isRehearsal: false, isCheck: false, stages: ['bmc'] })
  follower.began('a-run', new Map([['node-1', newHostState('node-1')]]))
  const page = await openRunPage(follower, { ...parts(), ...defined({ folder }) })
  return { follower, page, lab: new LabClient(new URL(page.url).origin) }
}

test('the page of real hosts shows the run and has no machines, nor takes any', async () => {
  const { page, lab } = await opened()
  await using _ = page
  expect(await lab.index()).toMatchObject({ run: true, machines: 0, nodes: 0 })
  expect(await lab.run()).toMatchObject({ id: 'a-run', hosts: [{ host: 'node-1', outcome: 'waiting' }] })
  await expect(lab.addMachines({ count: 1 })).rejects.toThrow('the machines of a run are the hosts of its file')
  expect((await fetch(page.url)).headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await pageCall(`${lab.url}/_lab/faults`, { origin: 'http://evil.example' })).toBe(403)
})

test('a page that follows the run sees its end; the run does not wait for an unopened page', async () => {
  const { follower, page, lab } = await opened()
  await using _ = page
  follower.ended(null)
  await page.seen(new AbortController().signal)
  await lab.run()
  await page.seen(new AbortController().signal)
  expect(await lab.run()).toMatchObject({ isOver: true })
})

test('a page that was closed is waited for three seconds', { timeout: 10_000 }, async () => {
  const { follower, page, lab } = await opened()
  await using _ = page
  await lab.run()
  const asked = Date.now()
  follower.ended(null)
  await page.seen(new AbortController().signal)
  expect(Date.now() - asked).toBeGreaterThan(2500)
  expect(Date.now() - asked).toBeLessThan(5000)
})

test('a run that is stopped waits for no page', async () => {
  const { follower, page, lab } = await opened()
  await using _ = page
  await lab.run()
  const asked = Date.now()
  follower.ended(null)
  await page.seen(AbortSignal.abort())
  expect(Date.now() - asked).toBeLessThan(2500)
})

test('the page of a run that continues is where it was, and elsewhere when another program has its port', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-run-page-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const urlOf = async () => {
    await using page = (await opened(folder)).page
    return page.url
  }
  const first = await urlOf()
  expect(await urlOf()).toBe(first)
  const other = createServer().listen(Number(new URL(first).port), '127.0.0.1')
  await once(other, 'listening')
  expect(await urlOf()).not.toBe(first)
  other.close()
})
