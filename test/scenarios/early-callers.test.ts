import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStateFolder } from '../../lab/index.js'
import { openApiSwitch } from '../../lab/stage/api-switch.js'
import { CONDUCTOR_HOST } from '../../lab/stage/stage-ironic.js'
import { composeStage, type Stage } from '../../lab/stage/stage.js'

/** Machines and agents that lived on call Ironic while its conductor still takes up what an earlier one left. */

interface Life {
  folder: string
}

async function inLife({ folder: path }: Life, work: (staged: Stage) => Promise<void>): Promise<void> {
  using folder = await openStateFolder(path)
  await using staged = await composeStage({
    folder,
    network: { host: '127.0.0.1', port: 0 },
    disks: 'described',
  })
  await work(staged)
}

test('a call before the start of the conductor is answered after it', async () => {
  const folder = join(await mkdtemp(join(tmpdir(), 'ironstage-early-')), 'state')
  let url = ''
  await inLife({ folder }, async (staged) => {
    url = staged.url
    const uuid = await staged.enroll(staged.spec(1))
    // As a conductor that is killed while it verifies leaves it.
    const { revision } = (await staged.store.node(uuid))!
    const patch = {
      provision_state: 'verifying',
      target_provision_state: 'manageable',
      reservation: CONDUCTOR_HOST,
    } as const
    await staged.store.commit({ node: uuid, expect: revision, patch })
  })

  // An agent that knows the address calls until the listener is there, which is before the conductor's first act.
  const headers = { 'x-openstack-ironic-api-version': 'latest' }
  const call = (): Promise<Response> => fetch(`${url}/v1/nodes`, { headers }).catch(call)
  const early = call()
  await inLife({ folder }, async (staged) => {
    expect(staged.url).toBe(url)
    const response = await early
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ nodes: [{ provision_state: 'enroll' }] })
  })
})

test('a call that comes before the API waits for it', async () => {
  const apiSwitch = openApiSwitch()
  const early = apiSwitch.dispatch({ method: 'GET', target: '/v1/nodes', headers: {}, base: 'http://ironic' })
  const answer = { status: 200, headers: {}, body: '{}' }
  apiSwitch.open(() => Promise.resolve(answer))
  expect(await early).toEqual(answer)
})

test('a call to a lab that never starts is refused', async () => {
  const apiSwitch = openApiSwitch()
  const waiting = apiSwitch.dispatch({ method: 'GET', target: '/', headers: {}, base: 'http://ironic' })
  apiSwitch.shut()
  expect(await waiting).toMatchObject({ status: 503 })
})
