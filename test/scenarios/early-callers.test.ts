import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { openStateFolder } from '../../lab/index.js'
import { openApiSwitch } from '../../lab/stage/api-switch.js'
import type { StageOptions } from '../../lab/stage/stage-options.js'
import { CONDUCTOR_HOST } from '../../lab/stage/stage-ironic.js'
import { composeStage, type Stage } from '../../lab/stage/stage.js'

/** Machines and agents that lived on call Ironic while its conductor still takes up what an earlier one left. */

interface Life {
  folder: string
  onEvent?: StageOptions['onEvent']
}

async function inLife({ folder: path, onEvent }: Life, work: (staged: Stage) => Promise<void>): Promise<void> {
  using folder = await openStateFolder(path)
  await using staged = await composeStage({
    folder,
    network: { host: '127.0.0.1', port: 0 },
    disks: 'described',
    ...defined({ onEvent }),
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

  const early: Promise<{ status: number; state: string }>[] = []
  let there = false
  const onEvent: StageOptions['onEvent'] = ({ kind }) => {
    // The conductor fails what it cannot go on with: its first act.
    if (kind !== 'node' || there) return
    const call = async () => {
      const response = await fetch(`${url}/v1/nodes`, { headers: { 'x-openstack-ironic-api-version': 'latest' } })
      const { nodes } = (await response.json()) as { nodes: { provision_state: string }[] }
      return { status: response.status, state: nodes[0]!.provision_state }
    }
    early.push(call())
  }
  await inLife({ folder, onEvent }, async (staged) => {
    there = true
    expect(staged.url).toBe(url)
    expect(early.length).toBeGreaterThan(0)
    expect(await Promise.all(early)).toEqual(early.map(() => ({ status: 200, state: 'enroll' })))
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
