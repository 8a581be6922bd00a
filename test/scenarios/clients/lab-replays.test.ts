import { expect, test } from 'vitest'
import { LabReplays, readRecording } from '../../../apps/recording/index.js'
import { defined, seededRandom, silent, systemClock, temporaryFolder } from '../../../base/runtime/index.js'
import { LabClient, type ReplayReport } from '../../../control/index.js'
import { installCoreos, serve, type ServeOptions } from '../../../lab/index.js'
import { ignition } from '../../kit/deployed.js'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const clock = systemClock()

async function servedLab(seed: number, more: Partial<ServeOptions> = {}) {
  const recordings = new LabReplays(clock)
  const served = await serve({
    port: 0,
    nodes: 1,
    clock,
    random: seededRandom(seed),
    logger: silent,
    stateDir: null,
    realistic: false,
    recordings,
    ...more,
  })
  recordings.open({ url: served.url, tls: {}, after: served.stage.journal.last })
  return {
    url: served.url,
    client: new LabClient(served.url),
    [Symbol.asyncDispose]: async () => {
      await recordings[Symbol.asyncDispose]()
      await served[Symbol.asyncDispose]()
    },
  }
}

async function ironic(url: string, method: string, path: string, body?: unknown): Promise<{ provision_state: string }> {
  const answer = await fetch(url + path, {
    method,
    headers: { 'x-openstack-ironic-api-version': '1.90', 'content-type': 'application/json' },
    ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
  })
  return (await answer.json().catch(() => null)) as { provision_state: string }
}

const DEPLOYMENT = { deploy_steps: [installCoreos({ ignition })], configdrive: { meta_data: { name: 'worker-0' } } }

async function deploy(url: string): Promise<void> {
  for (const [target, state, more] of [
    ['manage', 'manageable', {}],
    ['provide', 'available', {}],
    ['active', 'active', DEPLOYMENT],
  ] as const) {
    await ironic(url, 'PUT', '/v1/nodes/node-0/states/provision', { target, ...more })
    await expect
      .poll(async () => (await ironic(url, 'GET', '/v1/nodes/node-0')).provision_state, { timeout: 20_000 })
      .toBe(state)
  }
}

const ended = async (client: LabClient): Promise<ReplayReport> => {
  const look = async () => (await client.replay()).replay!
  await expect.poll(async () => (await look()).state, { timeout: 60_000 }).not.toBe('running')
  return look()
}

test('a deployment is taken out of the journal as a recording, without secrets, and replayed without differences', async () => {
  await using lab = await servedLab(1)
  expect(await lab.client.replay()).toEqual({ replay: null })
  await ironic(lab.url, 'PATCH', '/v1/nodes/node-0', [{ op: 'add', path: '/extra/bmc_password', value: 'hunter22' }])
  await deploy(lab.url)
  const text = await lab.client.recording()
  expect(text).not.toContain('hunter22')
  expect(text).not.toContain('ssh-')
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'recording.ndjson')
  await writeFile(file, text)
  const { exchanges } = await readRecording(file)
  expect(new Set(exchanges.map(({ from, to }) => `${from} ${to}`))).toEqual(
    new Set(['client ironic', 'agent ironic', 'ironic agent']),
  )

  await using other = await servedLab(2)
  const begun = await other.client.beginReplay({ recording: text, name: 'mine.ndjson' })
  expect(begun).toMatchObject({ name: 'mine.ndjson', state: 'running', done: 0, problem: null })
  await expect(other.client.beginReplay({ recording: text })).rejects.toMatchObject({
    code: 'replay-running',
    status: 409,
    message: expect.stringMatching(/^mine\.ndjson is being replayed: \d+ of \d+ calls are done$/) as string,
  })
  const report = await ended(other.client)
  expect(report).toMatchObject({ state: 'ended', problem: null, calls: begun.calls, done: begun.calls })
  expect(report.lines).toEqual([`${begun.calls} calls, 0 differences`])
})

test('a recording after an entry has only what came after it; an older release differs, as the command says', async () => {
  await using lab = await servedLab(1)
  await ironic(lab.url, 'GET', '/v1/nodes')
  const { journal } = await lab.client.index()
  await ironic(lab.url, 'GET', '/v1/nodes/node-0')
  const text = await lab.client.recording({ after: journal.last })
  expect(text.trim().split('\n')).toHaveLength(2)
  await using older = await servedLab(1, { ironic: { release: '2024.2' } })
  await older.client.beginReplay({ recording: text })
  const report = await ended(older.client)
  expect(report.lines).toContainEqual(
    expect.stringMatching(
      /^#1 GET \/v1\/nodes\/\{node_ident\}: header\.x-openstack-ironic-api-maximum-version was "1\.\d+", is "1\.93"$/,
    ),
  )
  expect(report).toMatchObject({ differences: 1, lines: { length: 2, 1: '1 call, 1 difference' } })
})

test('a replay that waits is stopped, and another can begin', async () => {
  await using lab = await servedLab(1)
  await deploy(lab.url)
  const text = await lab.client.recording()
  await using other = await servedLab(2, { nodes: 1 })
  await other.client.addFault({ match: { route: 'GET /v1/nodes/:id' }, effect: { kind: 'hang' } })
  await other.client.beginReplay({ recording: text })
  await other.client.stopReplay()
  expect(await ended(other.client)).toMatchObject({ state: 'stopped', problem: null })
  await other.client.stopReplay()
  await other.client.liftFaults()
  await other.client.beginReplay({ recording: text })
})

const HEADER = '{"recording":"ironstage","version":1}\n'

test.each([
  ['a picture', 'recording-damaged', /^line 1 of mine is not JSON/],
  ['{}\n', 'recording-damaged', /mine is no recording/],
  ['{"recording":"ironstage","version":9}\n', 'recording-version', /version 9/],
  [`${HEADER}{"seq":1`, 'recording-cut', /ends in the middle of line 2/],
  [HEADER, 'nothing-to-replay', /mine has no request of a client/],
])('what cannot be replayed is refused in words: %j', async (recording, code, message) => {
  await using lab = await servedLab(1, { nodes: 0 })
  await expect(lab.client.beginReplay({ recording, name: 'mine' })).rejects.toMatchObject({
    code,
    status: 400,
    message: expect.stringMatching(message) as string,
  })
  expect(await lab.client.replay()).toEqual({ replay: null })
})

test('a lab without recordings says what to use instead', async () => {
  await using lab = await servedLab(1, { nodes: 0, recordings: undefined as never })
  await expect(lab.client.recording()).rejects.toMatchObject({ code: 'no-recordings', status: 404 })
  await expect(lab.client.stopReplay()).rejects.toMatchObject({ code: 'no-recordings' })
})
