import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { command } from '../kit/command.js'

const TOKEN = 'T'.repeat(43)
const latest = { 'X-OpenStack-Ironic-API-Version': 'latest', 'content-type': 'application/json' }

interface ReadyLine {
  callback_url: string
  macs: string[]
}

async function started(...args: string[]) {
  const agent = command(['agent', '--json', ...args])
  const [line] = await agent.printed(/.*"ready".*/)
  return { agent, ready: JSON.parse(line) as ReadyLine }
}

async function ordered(url: string, name: string, token = TOKEN) {
  const response = await fetch(`${url}/v1/commands/?wait=true&agent_token=${token}`, {
    method: 'POST',
    body: JSON.stringify({ name, params: {} }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

describe('ironstage agent', () => {
  test('belongs to an Ironic elsewhere: inspects when its kernel parameters ask for it, is looked up, heartbeats', async () => {
    const up = command(['up', '--port', '0'])
    const [, url] = await up.printed(/ready at (\S+)/)
    const asked = async (method: string, path: string, body: unknown) => {
      const response = await fetch(url! + path, { method, headers: latest, body: JSON.stringify(body) })
      expect(response.ok, await response.clone().text()).toBe(true)
      return (await response.text()) || 'null'
    }
    const node = async () =>
      (await (await fetch(`${url}/v1/nodes/elsewhere`, { headers: latest })).json()) as Record<string, unknown>
    const mac = '52:54:00:0A:BC:DE'
    await asked('POST', '/v1/nodes', { name: 'elsewhere', driver: 'fake-hardware', inspect_interface: 'agent' })
    const { uuid } = await node()
    await asked('POST', '/v1/ports', { node_uuid: uuid, address: mac })
    for (const target of ['manage', 'inspect']) {
      await asked('PUT', '/v1/nodes/elsewhere/states/provision', { target })
      const next = target === 'manage' ? 'manageable' : 'inspect wait'
      await expect.poll(async () => (await node())['provision_state']).toBe(next)
    }

    const { agent, ready } = await started(
      ...['--ironic-url', `${url}/`, '--mac', mac],
      ...['--kernel-params', `ipa-inspection-callback-url=${url}/v1/continue_inspection`],
    )
    expect(ready).toMatchObject({ callback_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/), ironic_url: url })
    await expect.poll(async () => (await node())['provision_state']).toBe('manageable')
    const inventory = await (await fetch(`${url}/v1/nodes/elsewhere/inventory`, { headers: latest })).json()
    expect(inventory).toMatchObject({ inventory: { interfaces: [{ mac_address: mac.toLowerCase() }, {}] } })
    agent.stop()
    expect(await agent.ended).toBe(0)
    up.stop()
    await up.ended
  })

  test('serves whoever has its token without any Ironic; ends when its machine was switched off', async () => {
    const { agent, ready } = await started('--standalone', '--token', TOKEN)
    const { callback_url: url } = ready
    expect((await ordered(url, 'poll.get_hardware_info', 'other')).status).toBe(401)
    expect(await ordered(url, 'poll.get_hardware_info')).toMatchObject({
      status: 200,
      body: { command_status: 'SUCCEEDED' },
    })
    await ordered(url, 'standby.power_off').catch(() => {})
    await agent.printed(/"event":"off"/)
    expect(await agent.ended).toBe(0)
  })

  test('--respawn: power comes back, and with it a new boot of the ramdisk', async () => {
    const { agent, ready } = await started('--standalone', '--token', TOKEN, '--respawn', '--speed', '100')
    await ordered(ready.callback_url, 'standby.power_off').catch(() => {})
    await agent.printed(/"event":"boot".*"event":"boot"/s)
    expect((await ordered(ready.callback_url, 'standby.sync')).status).toBe(200)
    agent.stop()
    expect(await agent.ended).toBe(0)
  })

  test('a machine of a state folder is taken up by its id, and goes on in the same boot', async () => {
    const dir = join(await mkdtemp(join(tmpdir(), 'ironstage-agent-')), 'state')
    const up = command(['up', '--port', '0', '--nodes', '2', '--state-dir', dir])
    await up.printed(/ready at/)
    up.stop()
    await up.ended
    const of = ['--standalone', '--token', TOKEN, '--state-dir', dir, '--machine', 'machine-2']
    const first = await started(...of)
    expect(first.ready.macs[0]).toBe('52:54:00:00:00:04')
    await ordered(first.ready.callback_url, 'standby.sync')
    first.agent.stop()
    await first.agent.ended

    const second = await started(...of)
    expect(second.ready.callback_url).toBe(first.ready.callback_url)
    const commands = await fetch(`${second.ready.callback_url}/v1/commands/?agent_token=${TOKEN}`)
    expect(await commands.json()).toMatchObject({ commands: [{ command_name: 'sync' }] })
    second.agent.stop()
    await second.agent.ended

    const other = command(['agent', ...of.slice(0, -1), 'machine-9'])
    expect(await other.ended).toBe(2)
    expect(other.stderr).toMatch(/has no machine machine-9.*try: it has machine-1, machine-2/s)
  })

  test('a node is looked up by its uuid', async () => {
    const nodeUuid = 'd0000000-0000-4000-8000-000000000001'
    const asked: string[] = []
    const elsewhere = createServer((request, response) => {
      asked.push(request.url!)
      const version = { default_version: { version: '1.115' } }
      response.writeHead(request.url === '/' ? 200 : 404).end(JSON.stringify(version))
    }).listen(0, '127.0.0.1')
    await once(elsewhere, 'listening')
    const { port } = elsewhere.address() as AddressInfo
    const { agent } = await started('--ironic-url', `http://127.0.0.1:${port}`, '--node-uuid', nodeUuid)
    await expect.poll(() => asked.at(-1)).toMatch(new RegExp(`^/v1/lookup\\?addresses=.*&node_uuid=${nodeUuid}$`))
    agent.stop()
    await agent.ended
    elsewhere.closeAllConnections()
    elsewhere.close()
  })

  test.each<[string, string[], RegExp]>([
    ['no Ironic', [], /an agent needs its Ironic.*--ironic-url/s],
    ['a real disk', ['--standalone', '--target', 'local:/dev/loop0'], /only reaches simulated machines/],
    ['a machine behind SSH', ['--standalone', '--target', 'ssh://core@h'], /only reaches simulated machines/],
    [
      'a token without --standalone',
      ['--ironic-url', 'http://h', '--token', TOKEN],
      /--token is of a standalone agent/,
    ],
    ['an Ironic with --standalone', ['--ironic-url', 'http://h', '--standalone'], /--ironic-url means nothing/],
    ['half of a machine', ['--standalone', '--machine', 'm'], /--state-dir and --machine go together/],
    ['no MAC address', ['--standalone', '--mac', 'zz'], /--mac is "zz"/],
    ['no port', ['--standalone', '--listen', '127.0.0.1'], /--listen is "127\.0\.0\.1"/],
    ['a port that is none', ['--standalone', '--listen', '127.0.0.1:70000'], /there is no port 70000/],
    ['a URL that is none', ['--ironic-url', 'http://h', '--kernel-params', 'ipa-api-url=ftp://h'], /ipa-api-url/],
  ])('refuses %s', async (_, args, message) => {
    const agent = command(['agent', ...args])
    expect(await agent.ended).not.toBe(0)
    expect(agent.stderr).toMatch(message)
  })
})
