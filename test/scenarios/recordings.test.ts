import { expect, test } from 'vitest'
import { serve, type ServedLab, type ServeOptions } from '../../lab/index.js'
import {
  diffRecordings,
  groupDifferences,
  IdMap,
  readRecording,
  replayClient,
  sentenceOf,
  type Recording,
} from '../../apps/recording/index.js'
import { defined, seededRandom, silent, systemClock } from '../../base/runtime/index.js'
import { HttpTransport } from '../../base/wire/index.js'
import { recording, type Stage } from '../kit/recorder.js'

const clock = systemClock()
const VERSION = { 'x-openstack-ironic-api-version': '1.90', 'content-type': 'application/json' }

const ironic = (seed: number, more: ServeOptions['ironic'] = {}): Promise<ServedLab> =>
  serve({
    port: 0,
    nodes: 2,
    clock,
    random: seededRandom(seed),
    logger: silent,
    stateDir: null,
    realistic: false,
    ironic: more,
  })

/** A client of Ironic that takes its nodes to `active` and back. */
async function client(url: string): Promise<void> {
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(url + path, {
      method,
      headers: VERSION,
      ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
    })
    return (await answer.json().catch(() => null)) as {
      nodes: { uuid: string; links: { href: string }[] }[]
      provision_state: string
    }
  }
  const { nodes } = await send('GET', '/v1/nodes')
  for (const { uuid, links } of nodes) {
    // As clients do that follow links.
    const path = new URL(links[0]!.href)
    expect(path.origin).toBe(url)
    for (const [target, state, more] of [
      ['manage', 'manageable', {}],
      ['provide', 'available', {}],
      ['active', 'active', { deploy_steps: [{ interface: 'deploy', step: 'install_coreos', priority: 80, args: {} }] }],
    ] as const) {
      await send('PUT', `/v1/nodes/${uuid}/states/provision`, { target, ...more })
      for (let looks = 0; looks < 400; looks++) {
        if ((await send('GET', path.pathname)).provision_state === state) break
        await clock.sleep(20)
      }
    }
    await send('GET', `/v1/nodes/${uuid}/states`)
    await send('GET', `/v1/ports?node=${uuid}`)
    await send('PUT', `/v1/nodes/${uuid}/states/provision`, { target: 'nonsense' })
  }
  await send('GET', '/v1/nodes/detail')
}

async function recorded(served: ServedLab): Promise<Stage & { read: Recording }> {
  const stage = await recording(served.url)
  await client(stage.url)
  await stage.exchanges()
  return { ...stage, read: await readRecording(stage.file) }
}

async function replayed(read: Recording, against: ServedLab): Promise<string[]> {
  await using transport = new HttpTransport({ clock })
  const { differences, calls } = await replayClient({
    recording: read,
    url: against.url,
    transport,
    clock,
    ids: new IdMap(),
    credentials: {},
    secrets: new Map(),
    signal: new AbortController().signal,
    settle: 500,
  })
  expect(calls).toBeGreaterThan(10)
  return sentences(differences)
}

const sentences = (differences: Parameters<typeof groupDifferences>[0]) =>
  groupDifferences(differences).map(({ first }) => `${first.call}: ${sentenceOf(first)}`)

test('a recording made from ironstage replays against itself with no difference, and differs from none of the same', async () => {
  await using one = await ironic(1)
  await using stage = await recorded(one)
  await using other = await ironic(2)
  expect(await replayed(stage.read, other)).toEqual([])
  await using third = await ironic(3)
  await using again = await recorded(third)
  expect(sentences(diffRecordings(stage.read, again.read).differences)).toEqual([])
})

test('an Ironic of another release shows in a replay', async () => {
  await using one = await ironic(1)
  await using stage = await recorded(one)
  await using other = await ironic(2, { release: '2024.2' })
  expect(await replayed(stage.read, other)).toContain(
    'GET /v1/nodes/{node_ident}: header.x-openstack-ironic-api-maximum-version was "1.115", is "1.93"',
  )
})
