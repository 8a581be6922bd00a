import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClockIdleError, defined, temporaryFolder, UserError } from '../../base/runtime/index.js'
import { IronicRefused } from '../../base/wire/index.js'
import { createLab, installCoreos } from '../create-lab.js'
import type { ThreadedLab, ThreadedLabOptions } from './threaded-lab-types.js'
import { threadedJournal } from '../../test/kit/threaded-journal.js'
import { createThreadedLab } from './threaded-lab.js'
import { workerFile } from './thread.js'

const SHARD_SIZE = 3
const deploySteps = [installCoreos()]

const small = (options: Partial<ThreadedLabOptions> = {}, file?: string): Promise<ThreadedLab> =>
  createThreadedLab({ threads: 2, ...options }, { shardSize: SHARD_SIZE, ...defined({ file }) })

/** A program of threads that does something more when `happens` holds of a message. */
async function changedWorker(folder: string, happens: string, does: string): Promise<string> {
  const file = join(folder, 'changed-worker.mjs')
  await writeFile(
    file,
    `import { parentPort } from 'node:worker_threads'
     import ${JSON.stringify(pathToFileURL(workerFile()).href)}
     parentPort.on('message', (message) => { if (${happens}) { ${does} } })`,
  )
  return file
}

const asksFor = (kind: string): string =>
  `message.requests?.some(([, requests]) => requests.some(({ kind }) => kind === '${kind}'))`

// Five threads start: on a machine that is busy otherwise, that takes a while.
const THREADS_TEST_OPTIONS = { timeout: 240_000 }

test(
  'the journal of a seed is the same with one and three threads, and another one with another seed',
  THREADS_TEST_OPTIONS,
  async () => {
    const one = await threadedJournal({ threads: 1, seed: 7 })
    expect(await threadedJournal({ threads: 3, seed: 7 })).toEqual(one)
    expect(one.length).toBeGreaterThan(500)
    expect(await threadedJournal({ threads: 1, seed: 8 })).not.toEqual(one)
  },
)

test('events come before the answer that they lead to, and only while a caller listens', async () => {
  await using lab = await small({ threads: 1 })
  const states: string[] = []
  const listening = lab.events.listen((event) => event.kind === 'node' && states.push(event.node.provision_state))
  const node = await lab.enroll()
  await node.provision('manage')
  await node.settled()
  expect(states.at(-1)).toBe('manageable')

  listening[Symbol.dispose]()
  listening[Symbol.dispose]()
  const before = states.length
  await node.makeAvailable()
  expect(states).toHaveLength(before)
})

/** For tests that a lab with other nodes serves as well: its threads are started once. */
let shared: ThreadedLab
beforeAll(async () => {
  shared = await small()
})
afterAll(() => shared[Symbol.asyncDispose]())

test('a node is worked by the verbs of its handle', async () => {
  const lab = shared
  const node = await lab.enroll({ deploySteps, fields: { name: 'first' } })
  expect(await node.get()).toMatchObject({ uuid: node.uuid, name: 'first', provision_state: 'enroll' })

  await node.provision('manage')
  expect(await node.settled()).toMatchObject({ provision_state: 'manageable' })
  await node.makeAvailable()
  expect(await node.get()).toMatchObject({ provision_state: 'available' })
  await node.deploy()
  expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
  await node.provision('deleted')
  expect(await node.settled()).toMatchObject({ provision_state: 'available' })
  await node.provision('active', { deploy_steps: deploySteps })
  expect(await node.settled()).toMatchObject({ provision_state: 'active' })
})

test('machines have the numbers of a lab in one thread', async () => {
  await using lab = await small()
  const nodes = await Promise.all(Array.from({ length: 7 }, () => lab.enroll()))
  const names = await Promise.all(nodes.map(async (node) => (await node.get()).name))
  expect(names).toEqual([1, 2, 3, 4, 5, 6, 7].map((n) => `machine-${n}`))
})

test('errors arrive with their class and fields', async () => {
  const lab = shared
  const node = await lab.enroll({ deploySteps })
  await node.deploy()
  await node.settled()

  const refused = node.provision('manage')
  await expect(refused).rejects.toBeInstanceOf(IronicRefused)
  await expect(refused).rejects.toMatchObject({ status: 400, message: expect.stringContaining('"manage" can not') })
  const failed = node.makeAvailable()
  await expect(failed).rejects.toBeInstanceOf(UserError)
  await expect(failed).rejects.toMatchObject({ code: 'not-deployable' })
})

test('many nodes of a shard may be deployed at once, unless Ironic is configured otherwise', async () => {
  const limited = (ironic: ThreadedLabOptions['ironic'] & object) => small({ threads: 1, ironic })
  await using most = await limited({ profile: 'upstream' })
  await using few = await limited({ set: ['conductor.max_concurrent_deploy=1'] })
  const deployed = (lab: ThreadedLab) =>
    Promise.allSettled(
      Array.from({ length: SHARD_SIZE }, async () => {
        const node = await lab.enroll({ deploySteps })
        await node.deploy()
        return node.settled()
      }),
    )
  expect((await deployed(most)).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
  expect((await deployed(few)).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
})

describe('waiting', () => {
  test('fails when nothing is left that could happen, and works again then', async () => {
    const lab = shared
    await expect(lab.wait(new Promise(() => {}))).rejects.toBeInstanceOf(ClockIdleError)
    const node = await lab.enroll()
    expect(await lab.wait(node.get())).toMatchObject({ provision_state: 'enroll' })
  })

  test('for an event moves the clocks', async () => {
    const lab = shared
    const node = await lab.enroll()
    const manageable = new Promise<string>((resolve) => {
      const listening = lab.events.listen((event) => {
        if (event.kind !== 'node' || event.node.provision_state !== 'manageable') return
        listening[Symbol.dispose]()
        resolve(event.node.uuid)
      })
    })
    await node.provision('manage')
    expect(await lab.wait(manageable)).toBe(node.uuid)
  })

  test('in one shard may end by a call to another', async () => {
    await using lab = await small({ realistic: true })
    const nodes = await Promise.all(Array.from({ length: 4 }, () => lab.enroll()))
    await nodes[0]!.provision('manage')
    const second = nodes[0]!.settled().then(() => nodes[3]!.provision('manage'))
    await second
    expect(await nodes[3]!.settled()).toMatchObject({ provision_state: 'manageable' })
  })
})

describe('faults', () => {
  test('of all nodes strike in every shard, later ones too, until they are removed', async () => {
    const lab = shared
    const managed = async () => {
      const node = await lab.enroll()
      await node.provision('manage')
      return (await node.settled()).provision_state
    }
    const first = await managed()
    const fault = lab.faults.add({ match: {}, effect: { kind: 'bmc-silent' } })
    const struck = await Promise.all(Array.from({ length: 4 }, managed))
    fault[Symbol.dispose]()

    expect([first, await managed()]).toEqual(['manageable', 'manageable'])
    expect(new Set(struck)).toEqual(new Set(['enroll']))
    lab.faults.add({ match: {}, effect: { kind: 'bmc-silent' } })
    lab.faults.clear()
    expect(await managed()).toBe('manageable')
  })

  test('of one node strike as often as they say', async () => {
    const lab = shared
    const nodes = await Promise.all(Array.from({ length: 4 }, () => lab.enroll()))
    const node = nodes[3]!
    lab.faults.add({ match: { node: node.uuid, route: '/v1/lookup' }, effect: { kind: 'delay', ms: 1000 }, times: 1 })
    lab.faults.add({ match: { node: '00000000-0000-4000-8000-000000000000' }, effect: { kind: 'bmc-silent' } })
    await node.makeAvailable()
    expect(await node.get()).toMatchObject({ provision_state: 'available' })
  })

  test.each([
    [{ match: {}, effect: { kind: 'bmc-silent' }, times: 2 } as const, 'not-across-threads'],
    [{ match: {}, effect: { kind: 'status', status: 500, body: () => {} } } as const, 'not-across-threads'],
    [{ match: {}, effect: { kind: 'delay', ms: 1 } } as const, 'fault'],
  ])('the fault %j is refused', (fault, code) => {
    expect(() => shared.faults.add(fault)).toThrow(expect.objectContaining({ code }))
  })
})

describe('options that cannot be in several threads are refused:', () => {
  test.each([
    [{ clock: 'manual' }],
    [{ clock: 60 }],
    [{ managers: [] }],
    [{ listen: { host: '127.0.0.1', port: 0 } }],
    [{ liveImages: {} }],
    [{ logger: () => {} }],
    [{ hardware: [{ hardware: { cpus: () => 8 } }] }],
  ])('the option %j', async (more) => {
    await expect(createThreadedLab({ threads: 2, ...more } as ThreadedLabOptions)).rejects.toMatchObject({
      code: 'not-across-threads',
      message: expect.stringContaining(Object.keys(more)[0]!),
      remedy: expect.any(String),
    })
  })

  test.each([0, -1, 1.5, NaN])('%d threads', async (threads) => {
    await expect(createThreadedLab({ threads })).rejects.toMatchObject({ code: 'thread-count' })
  })

  test('options of a node that are not data', async () => {
    const lab = shared
    await expect(lab.enroll({ fields: { extra: { made: () => {} } } })).rejects.toMatchObject({
      code: 'not-across-threads',
      message: expect.stringContaining('fields'),
    })
    const node = await lab.enroll()
    await expect(node.provision('active', { configdrive: () => {} })).rejects.toMatchObject({
      code: 'not-across-threads',
    })
  })

  test('a configuration that no Ironic has, with the sentence of a lab in one thread', async () => {
    const ironic = { set: ['conductor.no_such_option=1'] }
    const error = await createLab({ ironic }).catch((error: unknown) => error as UserError)
    await expect(createThreadedLab({ threads: 1, ironic })).rejects.toMatchObject({
      code: (error as UserError).code,
      message: (error as UserError).message,
    })
  })
})

test('an automatic clock may be asked for', async () => {
  await using lab = await createThreadedLab({ threads: 1, clock: 'auto' } as ThreadedLabOptions)
  expect(await (await lab.enroll()).get()).toMatchObject({ provision_state: 'enroll' })
})

describe('a failure in a thread', () => {
  test('that dies rejects the calls of its shards, and those of the others are answered', async () => {
    await using folder = await temporaryFolder()
    const file = await changedWorker(folder.path, asksFor('deploy'), 'process.exit(3)')
    await using lab = await small({}, file)
    const nodes = await Promise.all(Array.from({ length: 6 }, () => lab.enroll({ deploySteps })))

    const deployed = nodes[0]!.deploy()
    const settled = nodes[3]!.settled()

    await expect(deployed).rejects.toMatchObject({
      code: 'shard-failed',
      message: 'shard 1 (nodes 1 to 3) has failed: its thread ended with exit code 3',
    })
    expect(await settled).toMatchObject({ provision_state: 'enroll' })
    await expect(nodes[1]!.get()).rejects.toMatchObject({ code: 'shard-failed' })
    expect(await nodes[4]!.get()).toMatchObject({ provision_state: 'enroll' })
  })

  test.each([
    ["setImmediate(() => { throw new Error('it broke') })"],
    ["setImmediate(() => void Promise.reject(new Error('it broke')))"],
  ])('that nothing catches ends the shard that runs, and no other: %s', async (does) => {
    await using folder = await temporaryFolder()
    const file = await changedWorker(folder.path, asksFor('deploy'), does)
    await using lab = await small({ threads: 1 }, file)
    const nodes = await Promise.all(Array.from({ length: 6 }, () => lab.enroll({ deploySteps })))

    await expect(nodes[4]!.deploy()).rejects.toMatchObject({
      code: 'shard-failed',
      message: 'shard 2 (nodes 4 to 6) has failed: it broke',
      cause: { message: 'it broke' },
    })
    await expect(nodes[5]!.get()).rejects.toMatchObject({ code: 'shard-failed' })
    expect(await nodes[0]!.get()).toMatchObject({ provision_state: 'enroll' })
  })
})

test('disposing ends the threads while they work, and refuses calls', async () => {
  const lab = await small({ disks: 'file' })
  const nodes = await Promise.all(Array.from({ length: 12 }, () => lab.enroll({ deploySteps })))
  const deploying = nodes.map((node) => node.deploy())
  const waiting = lab.wait(new Promise(() => {}))
  const ends = Promise.allSettled([...deploying, waiting])
  await lab[Symbol.asyncDispose]()

  for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'disposed' } })
  await expect(nodes[0]!.get()).rejects.toMatchObject({ code: 'disposed' })
  await lab[Symbol.asyncDispose]()
})
