import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../ironic-mock/index.js'
import { defined, systemClock } from '../../base/runtime/index.js'
import { openStage } from './stage.js'

test('a full disk is 507 with what to do; what was answered before is kept, and reading goes on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-full-'))
  const path = join(folder, 'ironic.db')
  const clock = systemClock()
  const created: string[] = []
  {
    await using store = openStore({ path, largest: 2 ** 20, clock })
    await using stage = await openStage({ earlier: store })
    const call = (method: string, target: string, body?: object) =>
      stage.api({
        method,
        target,
        base: 'http://x',
        headers: { 'x-openstack-ironic-api-version': '1.81' },
        ...defined({ body: body ? JSON.stringify(body) : undefined }),
      })
    const node = (name: string) => ({ driver: 'fake-hardware', name, extra: { filling: 'x'.repeat(20_000) } })
    for (let number = 0; ; number++) {
      expect(number).toBeLessThan(200)
      const { status, body = '' } = await call('POST', '/v1/nodes', node(`n${number}`))
      if (status === 201) created.push(`n${number}`)
      else {
        expect(status).toBe(507)
        expect(body).toContain('The disk of the state folder is full')
        expect(body).toContain('Make room there')
        break
      }
    }
    // Several at once share a transaction: each is told.
    const together = await Promise.all(['a', 'b', 'c'].map((name) => call('POST', '/v1/nodes', node(name))))
    expect(together.map(({ status }) => status)).toEqual([507, 507, 507])
    expect((await call('GET', '/v1/nodes')).status).toBe(200)
  }
  expect(created.length).toBeGreaterThan(3)
  {
    await using store = openStore({ path, clock })
    expect([...store.records.nodes.values()].map(({ record }) => record.name)).toEqual(created)
  }
  await rm(folder, { recursive: true })
})
