import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createStagedLab, installCoreos } from '../../../lab/index.js'
import { temporaryFolder, UserError } from '../../../base/runtime/index.js'
import { imageServer } from '../../kit/deployed.js'
import { smallImage } from '../../kit/images/rehearsal-image.js'
import { liveServers } from '../../kit/live-lab.js'

let server: Awaited<ReturnType<typeof imageServer>>
let live: Awaited<ReturnType<typeof liveServers>>
let raw: Buffer
beforeAll(async () => {
  raw = await smallImage()
  const motd = Buffer.from('hello')
  server = await imageServer({ '/disk.raw': raw, '/motd': motd })
  live = await liveServers()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await live[Symbol.asyncDispose]()
})

const seen = (lab: Awaited<ReturnType<typeof createStagedLab>>) =>
  lab.journal
    .entries({ kind: 'exchange' })
    .flatMap((entry) => (entry.kind === 'exchange' && entry.to === 'images' ? [entry] : []))

test('Ironic and the agent ask servers of files by the probe: each request is in the journal with its node', async () => {
  await using lab = await createStagedLab({ disks: 'file' })
  const image_source = `${server.url('/disk.raw')}`
  const image_os_hash_value = createHash('sha256').update(raw).digest('hex')
  const instance_info = { image_source, image_os_hash_algo: 'sha256', image_os_hash_value }
  const node = await lab.enroll({ fields: { name: 'direct', deploy_interface: 'direct', instance_info } })
  const match = { node: 'direct', to: 'images', route: 'HEAD /disk.raw' } as const
  lab.faults.add({ match, effect: { kind: 'status', status: 403 }, times: 1 })
  await node.deploy()
  expect(await node.settled()).toMatchObject({
    provision_state: 'deploy failed',
    last_error: expect.stringContaining('Got HTTP code 403 instead of 200 in response to HEAD request.'),
  })
  await node.provision('active')
  expect(await node.settled()).toMatchObject({ provision_state: 'active' })
  expect(seen(lab)).toMatchObject([
    { from: 'ironic', method: 'HEAD', status: 403, name: 'direct', fault: 'fault-1' },
    { from: 'ironic', method: 'HEAD', status: 200, name: 'direct', fault: null, response: { size: 0 } },
    { from: 'agent', method: 'GET', target: '/disk.raw', status: 200, name: 'direct', machine: 'machine-1' },
  ])
})

test.each([
  ['a digest', undefined],
  ['a cache', 'cache'],
])(
  'an image with %s is downloaded by the probe: a fault of its node strikes, and the journal has it',
  async (_, cache) => {
    await using folder = await temporaryFolder()
    await using lab = await createStagedLab({
      disks: 'file',
      imageCache: { folder: cache === undefined ? null : join(folder.path, cache) },
    })
    const image_url = server.url('/disk.raw')
    const image_sha256 = createHash('sha256').update(raw).digest('hex')
    const deploySteps = [installCoreos(cache === undefined ? { image_url, image_sha256 } : { image_url })]
    const node = await lab.enroll({ fields: { name: 'node-0' }, deploySteps })
    const match = { node: 'node-0', to: 'images', route: 'GET /disk.raw' } as const
    lab.faults.add({ match, effect: { kind: 'status', status: 404 } })
    await node.deploy()
    expect(await node.settled()).toMatchObject({
      provision_state: 'deploy failed',
      last_error: expect.stringContaining('404'),
    })
    expect(lab.faults.get('fault-1')!.struck).toBeGreaterThan(0)
    lab.faults.clear()
    await node.provision('active', { deploy_steps: deploySteps })
    expect(await node.settled()).toMatchObject({ provision_state: 'active' })
    expect(seen(lab)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ target: '/disk.raw', status: 404, fault: 'fault-1', machine: 'machine-1' }),
        expect.objectContaining({
          target: '/disk.raw',
          status: 200,
          fault: null,
          machine: 'machine-1',
          name: 'node-0',
        }),
      ]),
    )
  },
)

test('queries of downloads are masked', async () => {
  await using lab = await createStagedLab({ disks: 'file' })
  const image_url = `${server.url('/disk.raw')}?sig=hush`
  const node = await lab.enroll({ deploySteps: [installCoreos({ image_url })] })
  await node.deploy()
  await node.settled()
  expect(seen(lab).map(({ target }) => target)).toEqual(['/disk.raw.sig?sig=***', '/disk.raw?sig=***'])
  expect(JSON.stringify(seen(lab))).not.toContain('hush')
})

test('the fetches of Ignition at the first boot are downloads: a 503 is tried again', async () => {
  await using lab = await createStagedLab({ disks: 'file' })
  const files = [{ path: '/etc/motd', contents: { source: server.url('/motd') } }]
  const ignition = { ignition: { version: '3.4.0' }, storage: { files } }
  const node = await lab.enroll({ fields: { name: 'node-0' }, deploySteps: [installCoreos({ ignition })] })
  lab.faults.add({ match: { node: 'node-0', to: 'images' }, effect: { kind: 'status', status: 503 }, times: 2 })
  await node.deploy()
  await node.settled()
  await lab.wait(lab.clock.sleep(600_000))
  expect(seen(lab).map(({ from, target, status, fault }) => [from, target, status, fault])).toEqual([
    ['machine', '/motd', 503, 'fault-1'],
    ['machine', '/motd', 503, 'fault-1'],
    ['machine', '/motd', 200, null],
  ])
})

test('requests of other programs for live images meet faults, once; their paths are masked', async () => {
  await using lab = await live.lab()
  const node = await lab.enroll({ fields: { name: 'node-0', boot_interface: 'redfish-virtual-media' } })
  const { iso } = lab.images!.publish(node.uuid)!
  expect((await fetch(iso!, { headers: { range: 'bytes=0-99' } })).status).toBe(206)
  using _ = lab.faults.add({
    match: { node: 'node-0', to: 'images' },
    effect: { kind: 'status', status: 503 },
    times: 1,
  })
  expect((await fetch(iso!)).status).toBe(503)
  lab.faults.add({ match: { node: 'node-0', to: 'images' }, effect: { kind: 'connection-reset' }, times: 1 })
  await expect(fetch(iso!)).rejects.toThrow('fetch failed')
  lab.faults.add({ match: { node: 'node-0', to: 'images' }, effect: { kind: 'truncated-body' }, times: 1 })
  await expect(fetch(iso!).then((answer) => answer.arrayBuffer())).rejects.toThrow('terminated')
  const whole = Buffer.from(await (await fetch(iso!)).arrayBuffer())
  lab.faults.add({ match: { node: 'node-0', to: 'images' }, effect: { kind: 'malformed-body' }, times: 1 })
  const spoilt = Buffer.from(await (await fetch(iso!)).arrayBuffer())
  const wrong = [...whole.keys()].filter((at) => whole[at] !== spoilt[at])
  expect(spoilt.length).toBe(whole.length)
  expect(wrong.slice(0, 3)).toEqual([1000, 5096, 9192])
  expect(new Set(seen(lab).map(({ from, target }) => `${from} ${target}`))).toEqual(
    new Set(['client /nodes/***/ironic-python-agent.iso']),
  )
  lab.faults.clear()
  await node.makeAvailable()
  // The requests of the lab's own machines pass once, where they are sent.
  expect(new Set(seen(lab).map(({ from }) => from))).toEqual(new Set(['client', 'machine']))
})

test.each([
  [{ to: 'images' }, 'wrong-token', 'a fault of kind wrong-token can never strike an exchange with images'],
  [{ to: 'agent' }, 'empty-last-error', 'a fault of kind empty-last-error can never strike an exchange with agent'],
  [{ to: 'images', program: 'dd' }, 'hang', 'a fault of kind hang can never strike where to and program match'],
  [{ to: 'images', route: 'PUT /disk.raw' }, 'hang', 'no file has the path PUT /disk.raw'],
  [{ route: '/disk.raw' }, 'hang', 'no call begins with /disk.raw'],
  [{ to: 'agent', route: '/v1/nodes' }, 'hang', 'no call of agent begins with /v1/nodes'],
])('%j with %s is refused', async (match, kind, message) => {
  await using lab = await createStagedLab()
  const add = () => lab.faults.add({ match, effect: { kind } } as never)
  expect(add).toThrow(UserError)
  expect(add).toThrow(message)
  expect(lab.faults.list()).toEqual([])
})

test('a route matches whole parts of a path: /disk.raw is not /disk.raw.sig', async () => {
  await using lab = await createStagedLab({ disks: 'file' })
  lab.faults.add({ match: { to: 'images', route: '/disk' }, effect: { kind: 'status', status: 500 } })
  lab.faults.add({
    match: { to: 'images', route: 'HEAD /disk.raw' },
    effect: { kind: 'status', status: 403 },
    times: 1,
  })
  const image_source = `${server.url('/disk.raw')}`
  const image_os_hash_value = createHash('sha256').update(raw).digest('hex')
  const instance_info = { image_source, image_os_hash_algo: 'sha256', image_os_hash_value }
  const node = await lab.enroll({ fields: { deploy_interface: 'direct', instance_info } })
  await node.deploy()
  expect(await node.settled()).toMatchObject({ last_error: expect.stringContaining('403') })
  expect(lab.faults.list().map(({ struck }) => struck)).toEqual([0, 1])
  expect(() => lab.faults.add({ match: { route: '/v1/heart' }, effect: { kind: 'hang' } })).toThrow(
    'no call begins with /v1/heart',
  )
})
