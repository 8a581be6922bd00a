import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openFleet } from '../../apps/fleet/index.js'
import { LabClock, silent, systemRandom } from '../../base/runtime/index.js'
import type { Dispatch, WireRequest } from '../../base/wire/index.js'
import { withHealth } from '../../lab/control/health.js'
import { composeStage, type Stage } from '../../lab/index.js'

/** Probes of kubelets and proxies. */

let folder: string
let stage: Stage
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-health-'))
  const users = join(folder, 'htpasswd')
  // The hash of "open".
  await writeFile(users, 'lab:$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW\n')
  const set = ['DEFAULT.auth_strategy=http_basic', `DEFAULT.http_basic_auth_user_file=${users}`]
  stage = await composeStage({ network: { host: '127.0.0.1', port: 0 }, ironic: { set } })
})
afterAll(async () => {
  await stage[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** Status, type and text of an answer. */
async function ask(url: string, method = 'GET') {
  const response = await fetch(url, { method })
  return [response.status, response.headers.get('content-type'), await response.text()]
}

const TEXT = 'text/plain; charset=utf-8'

describe('the API of Ironic', () => {
  test('answers probes of its health without a password, and keeps them out of the journal', async () => {
    const before = stage.journal.entries({}).length
    for (const path of ['/healthz', '/readyz', '/readyz/', '/healthz?verbose=1'])
      expect(await ask(`${stage.url}${path}`)).toEqual([200, TEXT, 'ok'])
    expect(await ask(`${stage.url}/readyz`, 'HEAD')).toEqual([200, TEXT, ''])
    expect(await ask(`${stage.url}/readyz`, 'DELETE')).toEqual([405, TEXT, 'use GET or HEAD\n'])
    expect(stage.journal.entries({})).toHaveLength(before)
    expect((await fetch(`${stage.url}/readyzz`)).status).toBe(401)
    expect((await fetch(`${stage.url}/v1/healthz`)).status).toBe(401)
  })

  test('is alive and not ready while Ironic is stopped', async () => {
    await stage.ironic.stop({ keepsDatabase: true })
    expect(await ask(`${stage.url}/healthz`)).toEqual([200, TEXT, 'ok'])
    expect(await ask(`${stage.url}/readyz`)).toEqual([503, TEXT, 'Ironic is stopped\n'])
    await stage.ironic.start()
    expect(await ask(`${stage.url}/readyz`)).toEqual([200, TEXT, 'ok'])
  })

  test('answers before its end while it is not ready any more, and keeps no connection', async () => {
    await using ending = await composeStage({ network: { host: '127.0.0.1', port: 0 } })
    const before = await fetch(`${ending.url}/v1`)
    expect([before.status, before.headers.get('connection')]).toEqual([200, 'keep-alive'])
    await before.text()
    ending.drain()
    expect(await ask(`${ending.url}/healthz`)).toEqual([200, TEXT, 'ok'])
    expect(await ask(`${ending.url}/readyz`)).toEqual([503, TEXT, 'Ironic is about to stop\n'])
    const last = await fetch(`${ending.url}/v1`)
    expect([last.status, last.headers.get('connection')]).toEqual([200, 'close'])
  })
})

test('the control API of a fleet answers probes of its health', async () => {
  await using fleet = await openFleet({
    count: 1,
    redfish: { port: 0 },
    clock: new LabClock({ mode: 1 }),
    random: systemRandom,
    logger: silent,
  })
  for (const path of ['/healthz', '/readyz']) expect(await ask(`${fleet.controlUrl}${path}`)).toEqual([200, TEXT, 'ok'])
})

test('a probe does not wait for an API that opens, and says what is missing', async () => {
  let reason: string | null = 'Ironic is starting'
  const opening: Dispatch = () => new Promise(() => {})
  const answer = withHealth(opening, () => reason)
  const probe = (path: string): WireRequest => ({ method: 'GET', target: path, headers: {}, base: 'http://ironic' })
  expect(await answer(probe('/healthz'))).toMatchObject({ status: 200, body: 'ok' })
  expect(await answer(probe('/readyz'))).toMatchObject({ status: 503, body: 'Ironic is starting\n' })
  reason = null
  expect(await answer(probe('/readyz'))).toMatchObject({ status: 200, body: 'ok' })
})
