import { expect, test } from 'vitest'
import { createLab, composeStage, type Lab, type LabOptions } from '../../../lab/index.js'
import { defined, seededRandom, VirtualClock } from '../../../base/runtime/index.js'
import { SPREAD_MACHINE_TIMES } from '../../kit/snapshots/lab-journal.js'

const HEADERS = { 'content-type': 'application/json', 'x-openstack-ironic-api-version': '1.115' }

/** A lab that is reached by sockets, as that of `ironstage up`. */
async function servedLab(options: LabOptions = {}) {
  const lab: Lab = await createLab({ listen: { host: '127.0.0.1', port: 0 }, clock: 'manual', seed: 3, ...options })
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(lab.url + path, {
      method,
      headers: HEADERS,
      ...defined({ body: body ? JSON.stringify(body) : undefined }),
    })
    const text = await answer.text()
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as never
  }
  return {
    lab,
    ask,
    provision: (node: string, target: string, more = {}) =>
      ask('PUT', `/v1/nodes/${node}/states/provision`, { target, ...more }),
    until: (node: string, state: string) => ask('POST', '/_lab/clock/advance', { until: { node, state } }),
    advance: (by: string) => ask('POST', '/_lab/clock/advance', { by }),
    take: async () => (await ask('POST', '/_lab/snapshots')) as { id: string; repeats: number },
    restore: (id: string) => ask('POST', `/_lab/snapshots/${id}/restore`),
    node: (name: string) => ask('GET', `/v1/nodes/${name}`) as Promise<Record<string, unknown>>,
    /** Entries of the journal after one, but for what differs from run to run. */
    journal: async (after: number) => {
      const { entries } = (await ask('GET', `/_lab/journal?after=${after}&limit=1000`)) as {
        entries: Record<string, unknown>[]
      }
      return entries
        .filter(({ route }) => !String(route).includes('_lab'))
        .map(({ id: _, wallTime: __, ms: ___, ...entry }) => entry)
    },
    last: async () => ((await ask('GET', '/_lab')) as { journal: { last: number } }).journal.last,
    clock: (mode: string) => ask('PUT', '/_lab/clock', { mode }),
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  }
}

const deploy_steps = [{ interface: 'deploy', step: 'install_coreos', priority: 80, args: { append_karg: ['quiet'] } }]

/** Enrolls nodes, and makes them available. */
async function available({ ask, provision, until }: Awaited<ReturnType<typeof servedLab>>, ...names: string[]) {
  await ask('POST', '/_lab/nodes', { count: names.length })
  for (const name of names) {
    await provision(name, 'manage')
    await until(name, 'manageable')
    await provision(name, 'provide')
    await until(name, 'available')
  }
}

test('a deployment is taken in its middle by HTTP, and ends from there as it did', async () => {
  await using served = await servedLab({ realistic: true })
  const { ask, provision, until, advance, take, restore, node, journal, last } = served
  await available(served, 'node-0', 'node-1')
  await ask('POST', '/_lab/faults', { match: { node: 'node-1', disk: 'sda' }, effect: { kind: 'delay', for: '50ms' } })
  await provision('node-0', 'active', { deploy_steps })
  await advance('40s')
  await provision('node-1', 'active', { deploy_steps })
  await advance('95s')
  expect(await node('node-0')).toMatchObject({ provision_state: expect.stringMatching(/deploying|wait/) as string })

  const { id, repeats } = await take()
  expect(repeats).toBeGreaterThan(5)
  const end = async () => {
    const from = await last()
    await until('node-0', 'active')
    await until('node-1', 'active')
    return { nodes: [await node('node-0'), await node('node-1')], journal: await journal(from) }
  }
  const original = await end()
  expect(original.journal.length).toBeGreaterThan(50)
  for (let time = 0; time < 2; time++) {
    await restore(id)
    expect(await end()).toEqual(original)
  }
}, 120_000)

test('machines that were added and made new while a node was cleaned are there after a restore', async () => {
  await using served = await servedLab({ realistic: true })
  const { ask, provision, advance, take, restore } = served
  await available(served, 'node-0')
  await provision('node-0', 'manage')
  await provision('node-0', 'provide')
  await ask('POST', '/_lab/machines', { count: 2 })
  await advance('20s')
  await ask('POST', '/_lab/machines/machine-3/reimage')
  const machines = async () => ((await ask('GET', '/_lab/machines')) as { machines: { id: string }[] }).machines
  const before = await machines()
  expect(before.map(({ id }) => id)).toEqual(['machine-1', 'machine-2', 'machine-3'])

  const { id, repeats } = await take()
  expect(repeats).toBeGreaterThan(2)
  await ask('DELETE', '/_lab/machines/machine-2')
  await restore(id)
  expect(await machines()).toEqual(before)
}, 60_000)

test('time that jumps by itself ends where it ended before, also in another lab with the same options', async () => {
  await using served = await servedLab({ realistic: true })
  const { lab, provision, advance, take, restore, clock } = served
  await available(served, 'node-0')
  await provision('node-0', 'active', { deploy_steps })
  await advance('1m')
  const { id } = await take()
  const settled = async ({ node }: { node: (name: string) => Promise<Record<string, unknown>> }) => {
    let found = await node('node-0')
    while (found['provision_state'] !== 'active') found = await node('node-0')
    return found
  }
  await clock('auto')
  const original = await settled(served)
  await restore(id)
  expect(await settled(served)).toEqual(original)

  await using other = await servedLab({ realistic: true })
  const imported = other.lab.snapshots.import(lab.snapshots.export(id))
  await other.restore(imported.id)
  expect(await other.node('node-0')).toMatchObject({ provision_state: 'wait call-back' })
  await other.clock('auto')
  expect(await settled(other)).toMatchObject({ uuid: original['uuid'], updated_at: original['updated_at'] })
})

test('a call that has no answer yet when the lab goes back is answered, and a client may make it again', async () => {
  await using served = await servedLab()
  const { lab, ask, advance, take, restore, provision } = served
  await available(served, 'node-0')
  const { id } = await take()
  await ask('POST', '/_lab/faults', { match: { route: 'GET /v1/nodes/:id' }, effect: { kind: 'delay', for: '1h' } })
  const waiting = fetch(`${lab.url}/v1/nodes/node-0`, { headers: HEADERS })
  while ((await strikes(served)) === 0) await advance('1s')
  await restore(id)
  const answer = await waiting
  expect([answer.status, await answer.text()]).toEqual([
    503,
    expect.stringContaining('the lab went back to a snapshot before it had answered'),
  ])
  expect(await served.take()).toMatchObject({ repeats: 0 })
  await provision('node-0', 'active', { deploy_steps })
})

const strikes = async ({ ask }: Awaited<ReturnType<typeof servedLab>>) =>
  ((await ask('GET', '/_lab/faults')) as { faults: { struck: number }[] }).faults[0]?.struck ?? 0

test('while time goes on by itself only a lab without work under way is taken; agents that idle start again', async () => {
  await using served = await servedLab({ clock: 1000, ironic: { profile: 'metal3' } })
  const { ask, provision, take, restore, node, clock, until } = served
  await ask('POST', '/_lab/nodes', { count: 1 })
  const becomes = async (state: string) => {
    while ((await node('node-0'))['provision_state'] !== state) await new Promise((resolve) => setImmediate(resolve))
  }
  for (const [target, state] of [
    ['manage', 'manageable'],
    ['provide', 'available'],
  ] as const) {
    await provision('node-0', target)
    await becomes(state)
  }
  const { machines } = (await ask('GET', '/_lab/machines')) as { machines: { power: string }[] }
  expect(machines).toMatchObject([{ power: 'on' }])
  const idle = await take()
  expect(idle.repeats).toBe(0)
  await provision('node-0', 'active', { deploy_steps })
  await expect(take()).rejects.toThrow(/snapshot-busy.*node-0 is .*manual or auto/)
  await becomes('active')

  await restore(idle.id)
  expect(await node('node-0')).toMatchObject({ provision_state: 'available', power_state: 'power on' })
  await provision('node-0', 'active', { deploy_steps })
  await becomes('active')

  // Once time stands still, a snapshot without work under way is the first that others can build on.
  await clock('manual')
  const still = await take()
  await provision('node-0', 'deleted')
  const middle = await take()
  expect(middle.repeats).toBeGreaterThan(0)
  await until('node-0', 'available')
  const end = await node('node-0')
  await restore(middle.id)
  await until('node-0', 'available')
  expect(await node('node-0')).toEqual(end)
  await clock('x1000')
  await restore(still.id)
  expect(await node('node-0')).toMatchObject({ provision_state: 'active' })
  await restore(middle.id)
  await becomes('available')
})

test('a request to an agent is repeated, too', async () => {
  await using served = await servedLab({ ironic: { profile: 'metal3' } })
  const { take, restore, node } = served
  await available(served, 'node-0')
  const { driver_internal_info: info } = (await node('node-0')) as { driver_internal_info: { agent_url: string } }
  const before = await take()
  const status = async () => (await fetch(`${info.agent_url}/v1/status`)).status
  expect(await status()).toBe(200)
  const { id, repeats } = await take()
  expect(repeats).toBe(before.repeats + 1)
  await restore(id)
  expect(await status()).toBe(200)
  await restore(before.id)
})

test('a call of a BMC by Redfish is repeated, too', async () => {
  await using lab = await composeStage({
    disks: 'described',
    clock: new VirtualClock(),
    random: seededRandom(1),
    machinePace: SPREAD_MACHINE_TIMES,
    bmcAccount: { username: 'admin', password: 'secret-1' },
    machines: [{ spec: 1, name: 'node-0' }],
  })
  await using bmcs = await lab.redfish({ port: 0 })
  const headers = { authorization: `Basic ${btoa('admin:secret-1')}`, 'content-type': 'application/json' }
  const switchOn = fetch(`${bmcs.url}/redfish/v1/Systems/machine-1/Actions/ComputerSystem.Reset`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ ResetType: 'On' }),
  })
  const clock = lab.clock as VirtualClock
  const machine = lab.machines.get('machine-1')!
  while (machine.power() === 'off') await clock.advance(1000)
  const { id, repeats } = await lab.snapshots.take()
  expect(repeats).toBe(1)
  expect((await switchOn).status).toBe(204)
  await clock.advance(60_000)
  expect(machine.boot()).toMatchObject({ outcome: 'no bootable device' })
  const { id: boot } = machine.boot()!
  await lab.snapshots.restore(id)
  expect(machine.boot()).toBeUndefined()
  await clock.advance(60_000)
  expect(machine.boot()).toMatchObject({ id: boot, outcome: 'no bootable device' })
})
