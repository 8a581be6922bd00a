import { expect, expectTypeOf, test } from 'vitest'
import { createLab, installCoreos, type Lab } from '../../../lab/index.js'
import { CONTROL_OPERATIONS } from '../../../control/operations/control-operations.js'
import {
  ControlRefused,
  LabClient,
  type ClockReport,
  type FaultReport,
  type JournalEntry,
} from '../../../public/control.js'

const BASE = 'https://ironic.test'
const DEPLOYMENT = { deploy_steps: [installCoreos()] }

const clientOf = (lab: Lab): LabClient => new LabClient(`${BASE}/v1/`, { fetch: lab.fetchAt(BASE) })

test('the client of the control API has a method for each operation, typed by its table', async () => {
  await using lab = await createLab()
  const client = clientOf(lab)
  for (const { id } of CONTROL_OPERATIONS) expect(client[id], id).toBeTypeOf('function')
  const { operations } = await client.index()
  expect(operations).toHaveLength(CONTROL_OPERATIONS.length)

  expectTypeOf(client.advance).parameter(0).toExtend<{ by: string | number } | { until: object } | { next: true }>()
  expectTypeOf(client.clock).returns.resolves.toEqualTypeOf<ClockReport>()
  expectTypeOf<Awaited<ReturnType<typeof client.addFault>>>().toEqualTypeOf<FaultReport>()
  expectTypeOf(() => client.addFault([])).returns.resolves.toEqualTypeOf<{ faults: FaultReport[] }>()
  expectTypeOf(client.liftFault).toEqualTypeOf<(fault: string) => Promise<void>>()
  expectTypeOf(client.events).returns.toExtend<AsyncIterable<JournalEntry>>()
  expectTypeOf(client.journalNdjson).returns.resolves.toBeString()
  // @ts-expect-error: it needs the node.
  void (() => client.node())
  // @ts-expect-error: no such effect.
  void (() => client.addFault({ match: {}, effect: { kind: 'bad-luck' } }))
  // @ts-expect-error: no such member of a query.
  void (() => client.journal({ colour: 'red' }))
})

test('a fault by a client fails the deployment after half an hour, and is lifted', async () => {
  await using lab = await createLab({ clock: 'manual', ironic: { set: ['conductor.deploy_callback_timeout=1800'] } })
  const client = clientOf(lab)
  const { nodes } = await client.enroll({ count: 3 })
  expect(nodes.map(({ name }) => name)).toEqual(['node-0', 'node-1', 'node-2'])
  const reached = (node: string, state: 'manageable' | 'available' | 'active' | 'deploy failed') =>
    client.advance({ until: { node, state }, within: '2h' })
  for (const { uuid } of nodes) {
    await lab.client.provision(uuid, 'manage')
    await reached(uuid, 'manageable')
    await lab.client.provision(uuid, 'provide')
    await reached(uuid, 'available')
  }
  const fault = await client.addFault({
    match: { node: 'node-1', phase: 'install' },
    effect: { kind: 'agent-silent' },
    label: 'silent',
  })
  for (const { uuid } of nodes) await lab.client.provision(uuid, 'active', DEPLOYMENT)
  await client.advance({ by: '29m' })
  const states = async () => (await client.nodes()).nodes.map((node) => node.provision_state)
  expect(await states()).toEqual(['active', 'wait call-back', 'active'])
  await client.advance({ by: '2m' })
  expect(await states()).toEqual(['active', 'deploy failed', 'active'])

  expect((await client.fault(fault.id)).struck).toBeGreaterThan(0)
  await client.liftFaults({ label: 'silent' })
  expect(await client.faults()).toEqual({ faults: [] })
  await lab.client.provision('node-1', 'active', DEPLOYMENT)
  await reached('node-1', 'active')
  const { entries } = await client.journal({ node: 'node-1', kind: ['state', 'fault'], limit: 1000 })
  expect(new Set(entries.map(({ kind }) => kind))).toEqual(new Set(['state', 'fault']))
  expect((await client.journalNdjson({ fault: fault.id })).trim().split('\n').length).toBeGreaterThan(0)
})

test('a client follows the journal, from an id on, until it leaves', async () => {
  await using lab = await createLab()
  const client = clientOf(lab)
  const node = await lab.enroll({ fields: { name: 'node-0' } })
  await node.makeAvailable()
  const seen: string[] = []
  for await (const entry of client.events({ after: 0, kind: 'state' })) {
    if (entry.kind === 'state' && seen.at(-1) !== entry.state) seen.push(entry.state)
    if (seen.at(-1) === 'available') break
  }
  expect(seen[0]).toBe('enroll')
  expect(seen).toContain('clean wait')
})

test.each([
  ['an unknown node', (lab: LabClient) => lab.node('nobody'), 404, 'no-such-node'],
  ['a length of time that is none', (lab: LabClient) => lab.advance({ by: 'tomorrow' }), 400, 'bad-request'],
  ['a name with a slash', (lab: LabClient) => lab.fault('../clock'), 404, 'no-such-fault'],
])('%s is refused with code and remedy', async (_, call, status, code) => {
  await using lab = await createLab()
  const refusal = await call(clientOf(lab)).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(ControlRefused)
  expect(refusal).toMatchObject({ status, code, remedy: expect.any(String) })
})

test('a server that is no lab, or does not answer, is an error', async () => {
  const elsewhere = new LabClient(BASE, { fetch: () => Promise.resolve(new Response('<html>', { status: 404 })) })
  await expect(elsewhere.clock()).rejects.toMatchObject({
    code: 'no-lab',
    message: 'https://ironic.test/_lab/clock answered 404, not as a lab does',
  })
  const nobody = new LabClient(BASE, { fetch: () => Promise.reject(new TypeError('fetch failed')) })
  await expect(nobody.clock()).rejects.toThrow('GET https://ironic.test/_lab/clock got no answer')
  await expect(nobody.node('')).rejects.toThrow('node needs node as a non-empty string')
})
