import { expect, test } from 'vitest'
import { serve, type ServedLab } from '../../../lab/index.js'
import {
  groupDifferences,
  IdMap,
  readRecording,
  replayAgents,
  replayClient,
  sentenceOf,
  type Recording,
  type SeenDifference,
} from '../../../apps/recording/index.js'
import { defined, seededRandom, silent, systemClock } from '../../../base/runtime/index.js'
import { HttpTransport } from '../../../base/wire/index.js'
import { identity, recording } from '../../kit/recorder.js'
import { realNode } from '../real-node.js'
import type { RealIronic } from '../ironic.js'

const clock = systemClock()

const ironic = (seed: number): Promise<ServedLab> =>
  serve({
    port: 0,
    nodes: 0,
    clock,
    random: seededRandom(seed),
    logger: silent,
    stateDir: null,
    realistic: false,
    ironic: {
      profile: 'upstream',
      set: [
        'DEFAULT.enabled_hardware_types=fake-hardware',
        'DEFAULT.enabled_deploy_interfaces=custom-agent,fake',
        'DEFAULT.default_deploy_interface=custom-agent',
        'DEFAULT.enabled_inspect_interfaces=agent,no-inspect',
        'DEFAULT.default_inspect_interface=agent',
        'deploy.erase_devices_priority=0',
        'agent.command_wait_interval=1',
        'api.ramdisk_heartbeat_timeout=10',
        'agent.post_deploy_get_power_state_retries=2',
        'agent.post_deploy_get_power_state_retry_interval=1',
      ],
    },
  })

/** A client that speaks by way of a recorder. */
function through(url: string): Pick<RealIronic, 'url' | 'send' | 'done'> {
  const send: RealIronic['send'] = async (method, path, body) => {
    const headers = { 'x-openstack-ironic-api-version': '1.90', 'content-type': 'application/json' }
    const answer = await fetch(url + path, {
      method,
      headers,
      ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as unknown) }
  }
  const done: RealIronic['done'] = async (status, method, path, body) => {
    const answer = await send(method, path, body)
    expect(answer).toMatchObject({ status })
    return answer.body
  }
  return { url, send, done }
}

async function recorded(seed: number): Promise<Recording> {
  await using served = await ironic(seed)
  await using stage = await recording(served.url, { agentPort: 0 })
  {
    await using node = await realNode(through(stage.url) as RealIronic, 'recorded')
    await node.provision('manage')
    await node.settled('manageable')
    await node.provision('inspect')
    await node.settled('manageable')
    await node.provision('provide')
    await node.settled('available')
    await node.provision('active', {
      deploy_steps: [{ interface: 'deploy', step: 'erase_devices_metadata', priority: 50, args: {} }],
    })
    await node.settled('active')
  }
  await stage.exchanges()
  return await readRecording(stage.file)
}

const sentences = (differences: readonly SeenDifference[]) =>
  groupDifferences(differences).map(({ first }) => `#${first.seq} ${first.call}: ${sentenceOf(first)}`)

async function played(read: Recording, against: ServedLab) {
  await using transport = new HttpTransport({ clock })
  const shared = {
    recording: read,
    url: against.url,
    transport,
    clock,
    ids: new IdMap(),
    credentials: {},
    secrets: new Map<string, string>(),
    signal: new AbortController().signal,
  }
  const [client, agents] = await Promise.all([replayClient(shared), replayAgents({ ...shared, identity })])
  return { client: sentences(client.differences), agents: sentences(agents.differences), commands: agents.calls }
}

// Waits of a fake-hardware node's agent add up to half a minute.
test('client and agents of a recording, played side by side against another ironstage, find no difference', async () => {
  const read = await recorded(1)
  const commands = read.exchanges.flatMap(({ to, method, request }) =>
    to === 'agent' && method === 'POST' ? [(request.body as { name: string }).name] : [],
  )
  expect(commands).toEqual([
    'clean.get_clean_steps',
    'clean.execute_clean_step',
    'deploy.get_deploy_steps',
    'deploy.execute_deploy_step',
    'standby.power_off',
  ])
  await using other = await ironic(2)
  const { client, agents, commands: calls } = await played(read, other)
  expect(agents).toEqual([])
  expect(client).toEqual([])
  expect(calls).toBeGreaterThan(12)
})
