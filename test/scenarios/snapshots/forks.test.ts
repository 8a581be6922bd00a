import { expect, test } from 'vitest'
import { createLab, createStagedLab, serve } from '../../../lab/index.js'
import { LabClient } from '../../../control/client/lab-client.js'
import { LabClock, silent, systemRandom, type ClockMode } from '../../../base/runtime/index.js'
import { labFolder } from '../../kit/restarted-lab.js'

const HEADERS = { 'content-type': 'application/json', 'x-openstack-ironic-api-version': '1.115' }

/** The API of a lab as its clients see it. */
function clientOf(url: string) {
  const lab = new LabClient(url)
  return {
    url,
    lab,
    provision: async (node: string, target: string, more = {}) => {
      const path = `${url}/v1/nodes/${node}/states/provision`
      const body = JSON.stringify({ target, ...more })
      const answer = await fetch(path, { method: 'PUT', headers: HEADERS, body })
      expect(answer.status).toBe(202)
    },
    state: async (node: string) => (await lab.node(node)).provision_state,
    until: (node: string, state: 'active' | 'available' | 'manageable') => lab.advance({ until: { node, state } }),
  }
}

/** A lab as of `ironstage up`, with two nodes. */
async function up({ mode = 'manual', stateDir = null }: { mode?: ClockMode; stateDir?: string | null } = {}) {
  const clock = new LabClock({ mode })
  const served = await serve({
    nodes: 2,
    host: '127.0.0.1',
    port: 0,
    stateDir,
    realistic: true,
    clock,
    random: systemRandom,
    logger: silent,
  })
  return { ...clientOf(served.url), served, [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() }
}

/** Takes node-0 to five seconds of its deployment. */
async function deploying(ours: Awaited<ReturnType<typeof up>>): Promise<void> {
  await ours.provision('node-0', 'manage')
  await ours.until('node-0', 'manageable')
  // The metadata of two disks is erased side by side.
  await ours.provision('node-0', 'provide')
  await ours.until('node-0', 'available')
  await ours.provision('node-0', 'active', { deploy_steps })
  await ours.lab.advance({ by: '5s' })
}

const deploy_steps = [{ interface: 'deploy', step: 'install_coreos', priority: 80, args: {} }]

test('a fork by HTTP continues from the middle of a deployment, beside its lab, until it is ended', async () => {
  await using ours = await up()
  await deploying(ours)
  const before = await ours.state('node-0')
  expect(before).not.toBe('active')
  const { id, repeats, labTime } = await ours.lab.takeSnapshot()
  expect(repeats).toBeGreaterThan(2)

  const fork = await ours.lab.fork(id)
  expect(fork).toMatchObject({ id: 'fork-1', snapshot: id, caFile: null })
  expect(new URL(fork.url).port).not.toBe(new URL(ours.url).port)
  expect(await ours.lab.forks()).toEqual({ forks: [fork] })
  const twin = clientOf(fork.url)
  expect(await twin.lab.node('node-0')).toEqual(await ours.lab.node('node-0'))
  expect(await twin.lab.clock()).toMatchObject({ mode: 'manual', labTime })

  await twin.lab.addFault({ match: { node: 'node-1' }, effect: { kind: 'bmc-silent' } })
  await twin.until('node-0', 'active')
  expect(await ours.state('node-0')).toBe(before)
  expect(await ours.lab.faults()).toEqual({ faults: [] })
  await ours.until('node-0', 'active')
  expect(await ours.lab.node('node-0')).toEqual(await twin.lab.node('node-0'))

  // Its start is the snapshot.
  await twin.lab.reset()
  expect(await twin.state('node-0')).toBe(before)
  expect(await ours.state('node-0')).toBe('active')

  await ours.lab.endFork(fork.id)
  await expect(fetch(`${fork.url}/_lab`)).rejects.toThrow()
  expect(await ours.lab.forks()).toEqual({ forks: [] })
  expect((await ours.lab.journal({ kind: ['lab'] })).entries.map((entry) => 'what' in entry && entry.what)).toEqual(
    expect.arrayContaining([`fork-1 continues from ${id} at ${fork.url}`, 'fork-1 has ended']),
  )
}, 120_000)

test('writes to disks in files are repeated in their order, independent of their speed', async () => {
  for (let time = 0; time < 8; time++) {
    await using ours = await up()
    await deploying(ours)
    const { id } = await ours.lab.takeSnapshot()
    await ours.lab.restoreSnapshot(id)
  }
}, 60_000)

test('the fork of a lab whose time passes has its nodes, and time passes there, too', async () => {
  await using ours = await up({ mode: 60 })
  const { id } = await ours.lab.takeSnapshot()
  const { url } = await ours.lab.fork(id)
  const twin = clientOf(url)
  expect((await twin.lab.nodes()).nodes.map(({ uuid }) => uuid)).toEqual(
    (await ours.lab.nodes()).nodes.map(({ uuid }) => uuid),
  )
  expect(await twin.lab.clock()).toMatchObject({ mode: 'x60' })
  await twin.provision('node-1', 'manage')
  await expect.poll(() => twin.state('node-1'), { timeout: 20_000 }).toBe('manageable')
  expect(await ours.state('node-1')).toBe('enroll')
})

test('a fork ends with its lab, and there are no more of them than a process bears', async () => {
  const ours = await up()
  const forks = [...(await Promise.all(Array.from({ length: 20 }, () => ours.lab.fork('start'))))]
  expect(new Set(forks.map(({ url }) => url)).size).toBe(20)
  await expect(ours.lab.fork('start')).rejects.toMatchObject({ status: 409, code: 'fork-limit' })
  await ours.lab.endFork('fork-7')
  const { id, url } = await ours.lab.fork('start')
  expect(id).toBe('fork-21')
  await ours[Symbol.asyncDispose]()
  for (const each of [url, forks[0]!.url]) await expect(fetch(`${each}/_lab`)).rejects.toThrow()
}, 60_000)

test('a lab of a test that listens on a port has forks on others, by HTTP and by its methods', async () => {
  await using first = await createLab({ listen: { host: '127.0.0.1', port: 0 }, clock: 'manual' })
  const port = Number(new URL(first.url).port)
  await first[Symbol.asyncDispose]()
  await using lab = await createLab({ listen: { host: '127.0.0.1', port }, clock: 'manual' })
  await lab.enroll({ fields: { name: 'node-0' } })
  const { id } = await lab.snapshots.take()
  await using fork = await lab.snapshots.fork(id)
  const other = await new LabClient(lab.url).fork(id)
  for (const { url } of [fork, other]) expect(await clientOf(url).state('node-0')).toBe('enroll')
})

test('a lab without forks refuses them, and an unknown snapshot or fork is named', async () => {
  await using ours = await up()
  await expect(ours.lab.fork('snapshot-7')).rejects.toMatchObject({ status: 404, code: 'snapshot-unknown' })
  await expect(ours.lab.endFork('fork-7')).rejects.toMatchObject({
    status: 404,
    code: 'no-such-fork',
    message: 'there is no fork fork-7',
  })
  await using folder = await labFolder()
  await using inFolder = await up({ stateDir: folder.path })
  const { id } = await inFolder.lab.takeSnapshot()
  await expect(inFolder.lab.fork(id)).rejects.toMatchObject({
    status: 409,
    code: 'snapshot-unsupported',
    message: 'a lab that has a state folder has no forks',
  })
  await using inProcess = await createStagedLab()
  await expect(
    new LabClient(inProcess.url, { fetch: inProcess.fetchAt(inProcess.url) }).fork('start'),
  ).rejects.toMatchObject({
    status: 409,
    message: 'this lab has no sockets, and neither would its fork',
  })
})
