import { describe, expect, test } from 'vitest'
import { minutes } from '../../base/runtime/index.js'
import type { IronicRefused } from '../../base/wire/index.js'
import { createLab, createStagedLab, type StagedLab } from '../create-lab.js'
import type { Lab } from '../lab.js'
import type { Fault } from '../../control/faults/fault.js'

const unavailable: Fault = {
  match: { node: 'node-0', route: 'GET /v1/nodes/:id' },
  effect: { kind: 'status', status: 503 },
}

/** Statuses of requests for the node, one after another. */
async function statuses(lab: StagedLab, count: number): Promise<number[]> {
  const all: number[] = []
  for (let left = count; left > 0; left--)
    all.push(
      await lab.client.node('node-0').then(
        () => 200,
        (error: unknown) => (error as IronicRefused).status,
      ),
    )
  return all
}

const withNode = async (seed = 1) => {
  const lab = await createStagedLab({ seed })
  await lab.enroll({ fields: { name: 'node-0' } })
  return lab
}

describe('a fault strikes', () => {
  test('as often as asked, after as many matches as asked', async () => {
    await using lab = await withNode()
    lab.faults.add({ ...unavailable, after: 1, times: 2 })
    expect(await statuses(lab, 5)).toEqual([200, 503, 503, 200, 200])
    expect(lab.faults.list()).toMatchObject([{ struck: 2 }])
    expect(lab.journal.entries({ fault: 'fault-1', kind: 'exchange' })).toHaveLength(2)
  })

  test('not another node', async () => {
    await using lab = await withNode()
    await lab.enroll({ fields: { name: 'node-1' } })
    lab.faults.add(unavailable)
    expect((await lab.client.node('node-1')).name).toBe('node-1')
    expect(await statuses(lab, 1)).toEqual([503])
  })

  test('only while the node is in a state', async () => {
    await using lab = await withNode()
    lab.faults.add({ ...unavailable, match: { ...unavailable.match, state: 'manageable' } })
    expect(await statuses(lab, 2)).toEqual([200, 200])
    await lab.client.provision('node-0', 'manage')
    await lab.wait(lab.clock.sleep(minutes(1)))
    expect(await statuses(lab, 2)).toEqual([503, 503])
  })

  test('with a probability that the seed decides about', async () => {
    const runs: number[][] = []
    for (const seed of [1, 1, 2]) {
      await using lab = await withNode(seed)
      lab.faults.add({ ...unavailable, probability: 0.5 })
      runs.push(await statuses(lab, 40))
    }
    expect(runs[1]).toEqual(runs[0])
    expect(runs[2]).not.toEqual(runs[0])
    const struck = runs[0]!.filter((status) => status === 503).length
    expect(struck).toBeGreaterThan(5)
    expect(struck).toBeLessThan(35)
  })

  test('with a probability at the first match, too', async () => {
    await using lab = await withNode()
    for (let count = 0; count < 40; count++) lab.faults.add({ ...unavailable, probability: 0.5 })
    await statuses(lab, 1)
    const struck = lab.faults.list().filter((fault) => fault.struck > 0).length
    expect(struck).toBeGreaterThan(5)
    expect(struck).toBeLessThan(35)
  })

  test('between two times', async () => {
    await using lab = await withNode()
    lab.faults.add({ ...unavailable, between: [minutes(1), minutes(2)] })
    const seen: number[] = []
    for (let minute = 0; minute < 4; minute++) {
      seen.push(...(await statuses(lab, 1)))
      await lab.clock.advance(minutes(1))
    }
    expect(seen).toEqual([200, 503, 200, 200])
    expect(() => lab.faults.add({ ...unavailable, between: [minutes(1), minutes(4)] })).toThrow(
      'between ended after 240 s of lab time, and 240 s have passed, so the fault could never strike',
    )
    lab.faults.add({ ...unavailable, between: [minutes(1), minutes(5)] })
    expect(await statuses(lab, 1)).toEqual([503])
  })
})

describe('over a socket', () => {
  const onSocket = async (effect: Fault['effect']) => {
    const lab = await createLab({ clock: 1, listen: { host: '127.0.0.1', port: 0 } })
    await lab.enroll({ fields: { name: 'node-0' } })
    lab.faults.add({ ...unavailable, effect })
    return lab
  }
  const get = (lab: Pick<Lab, 'url'>, signal = AbortSignal.timeout(20_000)) =>
    fetch(`${lab.url}/v1/nodes/node-0`, { headers: { 'x-openstack-ironic-api-version': '1.95' }, signal })

  test('connection-reset: no answer comes', async () => {
    await using lab = await onSocket({ kind: 'connection-reset' })
    const failed = await get(lab).catch((error: unknown) => (error as Error).cause as { code?: string })
    expect(failed).toMatchObject({ code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/) })
  })

  test('truncated-body: the header is whole, the body ends too soon', async () => {
    await using lab = await onSocket({ kind: 'truncated-body' })
    const answer = await get(lab)
    expect(answer.status).toBe(200)
    await expect(answer.text()).rejects.toThrow('terminated')
  })

  test('malformed-body: it comes whole, and is not JSON', async () => {
    await using lab = await onSocket({ kind: 'malformed-body' })
    const text = await (await get(lab)).text()
    expect(text).toMatch(/^\{"/)
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError)
  })

  test('slow-body: it comes at its pace', async () => {
    await using lab = await onSocket({ kind: 'slow-body', bytesPerSecond: 4000 })
    const began = performance.now()
    const text = await (await get(lab)).text()
    expect(JSON.parse(text)).toMatchObject({ name: 'node-0' })
    expect(performance.now() - began).toBeGreaterThan((text.length / 4000) * 900)
  })

  test('hang: nothing comes until the fault is lifted', async () => {
    await using lab = await onSocket({ kind: 'hang' })
    const leaving = new AbortController()
    const left = expect(get(lab, leaving.signal)).rejects.toThrow('aborted')
    await expect.poll(() => lab.faults.list()[0]!.struck).toBe(1)
    leaving.abort()
    await left
    const waiting = get(lab).catch((error: unknown) => error)
    await expect.poll(() => lab.faults.list()[0]!.struck).toBe(2)
    lab.faults.clear()
    expect(await waiting).toBeInstanceOf(Error)
    expect((await get(lab)).status).toBe(200)
  })

  test('status: with its own body', async () => {
    await using lab = await onSocket({ kind: 'status', status: 502, body: '<html>Bad Gateway</html>' })
    const answer = await get(lab)
    expect([answer.status, await answer.text()]).toEqual([502, '<html>Bad Gateway</html>'])
  })
})
