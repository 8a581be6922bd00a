import { expect, test } from 'vitest'
import { ScriptedLab } from '../../../test/kit/conductor/scripted-lab.js'
import { StaleRevision, type Commit } from '../../store/store.js'

const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

/** Calls `act` after a number of microtasks. */
const later = (microtasks: number, act: () => void): void =>
  microtasks === 0 ? act() : queueMicrotask(() => later(microtasks - 1, act))

/** Two nodes of fake hardware, so that both can be committed in one group. */
async function twoNodes(lab: ScriptedLab): Promise<[string, string]> {
  const one = await lab.conductor.createNode({ driver: 'fake-hardware' })
  const other = await lab.conductor.createNode({ driver: 'fake-hardware' })
  return [one.uuid, other.uuid]
}

test.each([0, 1, 2, 3, 4, 5, 6, 7])(
  'a power change that is requested %i microtasks after the last one was committed still runs',
  async (microtasks) => {
    await using lab = await ScriptedLab.open()
    const [uuid, other] = await twoNodes(lab)
    // Bypasses the lab's wrapper of commit, whose promises would add microtasks.
    const own = (Object.getPrototypeOf(lab.store) as typeof lab.store).commit
    const commit = (change: Commit) => own.call(lab.store, change)
    let asked: Promise<void> | undefined
    const ask = (): void => void (asked = lab.conductor.changePower(uuid, 'rebooting'))
    let ended = false
    lab.store.commit = (change: Commit) => {
      const written = commit(change)
      if (change.node === uuid && change.patch?.reservation === null && !ended) {
        ended = true
        void written.then(() => later(microtasks, ask))
      } else if (ended && change.node === uuid && change.done === undefined) {
        // The commit of the other node flushes all commits that wait in the group.
        const expect = lab.store.records.nodes.get(other)!.revision
        void commit({ node: other, expect, patch: {}, done: -1 })
      }
      return written
    }
    await lab.conductor.changePower(uuid, 'power on')
    await settled()
    await asked
    await settled()
    expect(asked).toBeDefined()
    expect(lab.store.records.effects.has(uuid)).toBe(false)
    expect(await lab.node(uuid)).toMatchObject({ reservation: null, target_power_state: null })
  },
)

test('an event whose node is always changed meanwhile keeps no other from the event loop', async () => {
  await using lab = await ScriptedLab.open()
  const [uuid] = await twoNodes(lab)
  const commit = lab.store.commit.bind(lab.store)
  let attempts = 0
  let rounds = 0
  lab.store.commit = (change: Commit) => {
    if (rounds >= 5 || attempts === 1000) return commit(change)
    attempts++
    return Promise.reject(new StaleRevision())
  }
  const count = () => void (++rounds < 5 && setImmediate(count))
  setImmediate(count)
  await lab.conductor.changePower(uuid, 'power on')
  expect(attempts).toBeLessThan(10)
  expect(await lab.until(uuid, ({ reservation }) => reservation === null)).toMatchObject({ power_state: 'power on' })
})

test('an effect whose outcome cannot be committed runs again until it can', async () => {
  await using lab = await ScriptedLab.open()
  const [uuid] = await twoNodes(lab)
  const commit = lab.store.commit.bind(lab.store)
  let full = 5
  lab.store.commit = (change: Commit) =>
    change.done !== undefined && full-- > 0 ? Promise.reject(new Error('database or disk is full')) : commit(change)
  await lab.conductor.changePower(uuid, 'power on')
  const node = await lab.until(uuid, ({ reservation }) => reservation === null)
  expect(node).toMatchObject({ power_state: 'power on', last_error: null })
  expect(lab.warnings).toContain(`the work of node ${uuid} could not be saved; retrying`)
})

test('a time limit whose reaction cannot be committed passes again', async () => {
  await using lab = await ScriptedLab.open()
  const { uuid, machine } = await lab.enroll({ inspect_interface: 'agent' })
  machine.script.silent = true
  await lab.provision(uuid, 'manage', 'manageable')
  await lab.provision(uuid, 'inspect', 'inspect wait')
  const commit = lab.store.commit.bind(lab.store)
  let full = 2
  lab.store.commit = (change: Commit) =>
    change.patch?.provision_state === 'inspect failed' && full-- > 0
      ? Promise.reject(new Error('database or disk is full'))
      : commit(change)
  expect((await lab.until(uuid, 'inspect failed')).last_error).toContain('Timeout reached')
})

test('a port that is deleted while inspection changes it loses nothing else of the inspection', async () => {
  await using lab = await ScriptedLab.open()
  const { uuid, machine } = await lab.enroll({ inspect_interface: 'agent' }, '52:54:00:00:00:01')
  machine.script.inventory = { interfaces: [{ name: 'eth0', mac_address: machine.mac, client_id: 'mine' }] }
  await lab.provision(uuid, 'manage', 'manageable')
  const commit = lab.store.commit.bind(lab.store)
  let removed = false
  lab.store.commit = (change: Commit) => {
    const port = change.updatePorts?.[0]
    if (port && !removed) {
      removed = true
      // Runs before the commit, in the same transaction.
      void lab.store.removePort(port.uuid)
    }
    return commit(change)
  }
  const node = await lab.provision(uuid, 'inspect', (found) => removed && found.reservation === null)
  expect(removed).toBe(true)
  expect(node.properties).toMatchObject({ cpu_arch: 'x86_64' })
  expect(node.provision_state).toBe('manageable')
  expect(await lab.store.ports({ node_uuid: uuid })).toEqual([])
  expect(await lab.store.inventory(uuid)).toBeDefined()
})

test('a heartbeat during a reservation waits for its end without polling', async () => {
  await using lab = await ScriptedLab.open()
  const { uuid, machine } = await lab.enroll()
  await lab.provision(uuid, 'manage', 'manageable')
  machine.script.silent = true
  await lab.provision(uuid, 'provide', 'clean wait')
  const { config } = await lab.conductor.lookup(uuid, { issueToken: true })
  const beat = () =>
    lab.conductor.heartbeat(uuid, {
      callback_url: machine.url,
      agent_version: '13.0.0',
      agent_token: String(config.agent_token),
    })
  let refuse = (): void => {}
  machine.dispatch = () => new Promise((_, reject) => (refuse = () => reject(new Error('reset'))))
  await beat()
  await settled()
  expect((await lab.node(uuid)).reservation).not.toBeNull()

  // A fast clock, which never shows the same time twice.
  const now = lab.clock.now.bind(lab.clock)
  let looks = 0
  lab.clock.now = () => now() + ++looks
  const before = lab.seen.length
  await Promise.all([beat(), beat()])
  for (let i = 0; i < 50; i++) await settled()
  expect(lab.seen.length - before).toBe(2)
  lab.clock.now = now
  expect(await lab.store.deadlines()).toContainEqual(expect.objectContaining({ node: uuid, kind: 'heartbeat' }))

  refuse()
  await lab.until(uuid, 'clean failed')
  expect(await lab.store.deadlines()).toEqual([])
})

test('a check interval of 0 does not stop the clock', async () => {
  await using lab = await ScriptedLab.open({ conf: { checkInterval: 0 } })
  const { uuid, machine } = await lab.enroll()
  machine.script.silent = true
  await lab.provision(uuid, 'manage', 'manageable')
  await lab.provision(uuid, 'provide', 'clean wait')
  await lab.conductor.setMaintenance(uuid, true)
  await lab.clock.advance(lab.conf.cleanCallbackTimeout + 60_000)
  expect((await lab.node(uuid)).provision_state).toBe('clean wait')
  await lab.conductor.setMaintenance(uuid, false)
  await lab.until(uuid, 'clean failed')
})

test('changes of one node that meet take turns: each is made once, in the order of the requests', async () => {
  await using lab = await ScriptedLab.open()
  const [uuid] = await twoNodes(lab)
  const commit = lab.store.commit.bind(lab.store)
  // As in a store that writes to a disk: what is requested meanwhile meets the change.
  lab.store.commit = async (change: Commit) => {
    await new Promise((resolve) => setImmediate(resolve))
    return commit(change)
  }
  const made: number[] = []
  const change = (n: number) =>
    lab.conductor.updateNode(uuid, ({ extra }) => {
      made.push(n)
      return { extra: { ...extra, [`k${n}`]: n } }
    })
  const numbers = Array.from({ length: 20 }, (_, n) => n)
  await Promise.all([...numbers.map(change), lab.conductor.setMaintenance(uuid, true)])
  expect(made).toEqual(numbers)
  const node = await lab.node(uuid)
  expect(Object.values(node.extra)).toEqual(numbers)
  expect(node.maintenance).toBe(true)
})
