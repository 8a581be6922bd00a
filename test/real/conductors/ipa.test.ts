import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { composeStage, type Stage } from '../../../lab/index.js'
import { isExchange, type ApiNode, type Inventory, type ProvisionState } from '../../../base/wire/index.js'
import { imageServer } from '../../kit/deployed.js'
import { ipaMachine, type IpaMachine } from '../ipa.js'
import { followPower } from '../power-follower.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** Milliseconds with a cold cache, most of which are the installation of peers. */
const INSTALLATION = 900_000

const VERSION = { 'x-openstack-ironic-api-version': '1.115', 'content-type': 'application/json' }

/** Waits as short as they can be; agents heartbeat after 0.3 to 0.6 of this. */
/** The power of fake hardware never shows that the agent has gone: its last seconds are what these polls leave it. */
const HASTY = { requireTls: true, heartbeatTimeout: 10, agentPowerOffPolls: 30, agentPowerOffInterval: 1000 }

test.concurrent(
  'our conductor takes the real agent through inspection, cleaning, a deployment, undeployment',
  async () => {
    const network = { host: '127.0.0.1', port: 0 }
    await using mock = await composeStage({ network, conf: { ...HASTY, eraseDevicesPriority: 0 } })
    const inventory = recordedInventory()
    await using machine = await ipaMachine({ ironicUrl: mock.url, inventory })
    const commands = commandsOf(mock)
    await using node = await nodeOn(mock, machine, inventory.interfaces[0]!.mac_address)

    await node.provision('manage')
    await node.settled('manageable')

    await node.provision('inspect')
    await node.settled('manageable')
    expect(node.states).toEqual(expect.arrayContaining(['inspect wait']))
    const found = await node.send('GET', '/inventory')
    expect(found).toMatchObject({ inventory: { ...inventory, hostname: 'practice' } })

    await node.provision('provide')
    await node.settled('available')
    // Those of the agent, in the order of their priorities; erase_devices was switched off.
    expect(await operations(machine)).toEqual(['erase_devices_metadata'])
    expect(commands()).toEqual(['clean.get_clean_steps', 'clean.execute_clean_step'])

    const files = [{ path: '/etc/motd', content: 'Z29vZCBkYXkK' }]
    await node.provision('active', {
      deploy_steps: [
        { interface: 'deploy', step: 'erase_devices_metadata', priority: 90, args: {} },
        { interface: 'deploy', step: 'inject_files', priority: 80, args: { files } },
        { interface: 'deploy', step: 'clean_uefi_nvram', priority: 70, args: { match_patterns: ['shim'] } },
      ],
    })
    await node.settled('active')
    expect(await operations(machine)).toEqual([
      'erase_devices_metadata',
      'inject_files',
      'clean_uefi_nvram',
      'full_sync',
    ])
    expect(commands()).toEqual([
      'deploy.get_deploy_steps',
      ...Array<string>(3).fill('deploy.execute_deploy_step'),
      'standby.power_off',
    ])
    await vi.waitFor(() => expect(machine.switched()).toBe('poweroff'), { timeout: REAL_PEER_TIMEOUT })

    await node.provision('deleted')
    await node.settled('available')
    expect(await operations(machine)).toEqual(['erase_devices_metadata'])
    expect(commands()).toEqual(['clean.get_clean_steps', 'clean.execute_clean_step'])
  },
  INSTALLATION,
)

test.concurrent(
  'our conductor deploys an image by the real agent',
  async () => {
    const image = Buffer.alloc(2 ** 20, 'an image ')
    await using server = await imageServer({ '/disk.raw': image })
    const network = { host: '127.0.0.1', port: 0 }
    await using mock = await composeStage({ network, conf: { ...HASTY, automatedClean: false } })
    const inventory = recordedInventory()
    await using machine = await ipaMachine({ ironicUrl: mock.url, inventory })
    const commands = commandsOf(mock)
    await using node = await nodeOn(mock, machine, inventory.interfaces[0]!.mac_address, {
      deploy_interface: 'direct',
      instance_info: {
        image_source: server.url('/disk.raw'),
        image_disk_format: 'raw',
        image_os_hash_algo: 'sha256',
        image_os_hash_value: createHash('sha256').update(image).digest('hex'),
      },
    })
    for (const [target, state] of [
      ['manage', 'manageable'],
      ['provide', 'available'],
      ['active', 'active'],
    ] as const) {
      await node.provision(target)
      await node.settled(state)
    }
    expect(await operations(machine)).toEqual(['write_image', 'full_sync'])
    expect(commands()).toEqual([
      'deploy.get_deploy_steps',
      'deploy.execute_deploy_step',
      'standby.get_partition_uuids',
      'image.install_bootloader',
      'standby.power_off',
    ])
    const { image_info: written } = (await machine.operations())[0]!
    expect(written).toMatchObject({ id: 'disk.raw', urls: [server.url('/disk.raw')], disk_format: 'raw' })
  },
  INSTALLATION,
)

test.concurrent(
  'a step that fails fails its deployment or cleaning, in the words of the real agent',
  async () => {
    const network = { host: '127.0.0.1', port: 0 }
    await using mock = await composeStage({ network, conf: { ...HASTY, automatedClean: false } })
    const inventory = recordedInventory()
    await using machine = await ipaMachine({ ironicUrl: mock.url, inventory })
    await using node = await nodeOn(mock, machine, inventory.interfaces[0]!.mac_address)
    await node.provision('manage')
    await node.settled('manageable')

    const manual = (step: string, args: Record<string, unknown>) => ({
      clean_steps: [{ interface: 'deploy', step, args }],
    })
    await node.provision('clean', manual('practice_fail', { message: 'no luck' }))
    expect(await node.settled('clean failed')).toMatchObject({
      last_error: `Clean step deploy.practice_fail failed on node ${node.uuid}. no luck`,
      fault: 'clean failure',
    })
    await node.send('DELETE', '/maintenance')
    await node.provision('manage')
    await node.settled('manageable')

    await node.provision('clean', manual('practice_sleep', { seconds: 1 }))
    await node.settled('manageable')
    expect(node.states).toContain('clean wait')
  },
  INSTALLATION,
)

/** The recorded inventory of another real agent. */
function recordedInventory(): Inventory {
  const file = new URL('../../fixtures/agent-api/agent-api-direct.json', import.meta.url)
  const exchanges = JSON.parse(readFileSync(file, 'utf8')) as { body: unknown; answer: unknown }[]
  const exchange = exchanges.find(({ body }) => (body as { name?: string } | null)?.name === 'poll.get_hardware_info')
  return (exchange!.answer as { command_result: Inventory }).command_result
}

/** Returns the operations since the previous call. */
const operations = (() => {
  const seen = new WeakMap<IpaMachine, number>()
  return async (machine: IpaMachine): Promise<string[]> => {
    const all = (await machine.operations()).map(({ operation }) => operation)
    const before = seen.get(machine) ?? 0
    seen.set(machine, all.length)
    return all.slice(before)
  }
})()

/** Returns the names of the conductor's commands since the previous call. */
function commandsOf({ probe }: Stage): () => string[] {
  let sent: string[] = []
  probe.attach((point, next) => {
    if (isExchange(point) && point.to === 'agent' && point.method === 'POST')
      sent.push((JSON.parse(point.request.body!) as { name: string }).name)
    return next()
  })
  return () => {
    const names = sent
    sent = []
    return names
  }
}

interface NodeOn extends AsyncDisposable {
  readonly uuid: string
  readonly states: ProvisionState[]
  /** Something of the node. */
  send(method: string, path: string): Promise<unknown>
  provision(target: string, fields?: Record<string, unknown>): Promise<void>
  /** @throws when it does not come to rest there in two minutes, or fails on its way */
  settled(state: ProvisionState): Promise<ApiNode>
}

/** A node with `fake-hardware` whose power the machine follows. */
async function nodeOn(
  { url }: Stage,
  machine: IpaMachine,
  address: string,
  fields: Record<string, unknown> = {},
): Promise<NodeOn> {
  const send = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(url + path, { method, headers: VERSION, ...sent })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
  const interfaces = { inspect_interface: 'agent', deploy_interface: 'custom-agent', ...fields }
  const { uuid } = (await send('POST', '/v1/nodes', { driver: 'fake-hardware', ...interfaces })) as ApiNode
  await send('POST', '/v1/ports', { node_uuid: uuid, address, pxe_enabled: true })
  const states: ProvisionState[] = []
  const log: string[] = []
  let latest: ApiNode | undefined
  let notify = (): void => {}
  const following = followPower({
    machine,
    node: async () => (await send('GET', `/v1/nodes/${uuid}`)) as ApiNode,
    source: ({ provision_state: state, deploy_step: step }) => {
      const boots = (step as { step?: string } | null)?.step
      if (state === 'active' || (state === 'deploying' && boots !== undefined && boots !== 'deploy'))
        return { kind: 'disk' }
      const inspection = { 'ipa-inspection-callback-url': `${url}/v1/continue_inspection` }
      return { kind: 'ramdisk', parameters: state.startsWith('inspect') ? inspection : {} }
    },
    onNode: (node) => {
      latest = node
      if (node && states.at(-1) !== node.provision_state) states.push(node.provision_state)
      notify()
    },
    onError: (error) => log.push(String(error)),
    onSwitched: (what) => log.push(what),
  })
  return {
    uuid,
    states,
    send: (method, path) => send(method, `/v1/nodes/${uuid}${path}`),
    provision: async (target, fields = {}) => {
      states.length = 0
      await send('PUT', `/v1/nodes/${uuid}/states/provision`, { target, ...fields })
    },
    settled: async (state) => {
      const deadline = Date.now() + REAL_PEER_TIMEOUT
      for (;;) {
        await new Promise<void>((resolve) => (notify = resolve))
        const rests = latest?.reservation === null && latest.target_power_state === null
        if (rests && latest!.provision_state === state) return latest!
        const failed = rests && latest!.provision_state.endsWith('failed')
        if (!failed && Date.now() < deadline) continue
        const story = [states.join(', '), latest?.last_error, ...log, await machine.logged()]
        throw new Error(`the node was to become ${state}: ${story.join('\n')}`)
      }
    },
    [Symbol.asyncDispose]: () => following[Symbol.asyncDispose](),
  }
}
