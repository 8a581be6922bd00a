import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { selfSigned } from '../../agent/index.js'
import { seededRandom, systemClock } from '../../base/runtime/index.js'
import { HttpTransport, type Inventory } from '../../base/wire/index.js'
import { command } from '../kit/commands/command.js'

const TOKEN = 'T'.repeat(43)
const latest = { 'X-OpenStack-Ironic-API-Version': 'latest', 'content-type': 'application/json' }

interface ReadyLine {
  callback_url: string
  macs: string[]
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
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

  test('says what it waits for: an Ironic that does not answer, then one that does not have its node', async () => {
    const port = await freePort()
    const ironic = `http://127.0.0.1:${port}`
    const agent = command(['agent', '--ironic-url', ironic, '--mac', '52:54:00:0A:BC:DF', '--speed', '20'])
    await agent.printed(
      new RegExp(
        `the agent waits until the Ironic at ${ironic} answers, .*connection refused.*; start it, or correct --ironic-url`,
      ),
    )
    await agent.printed(/the agent waits until .* answers, for ([6-9]\d|\d{3}) s by now/)
    const up = command(['up', '--port', String(port)])
    await agent.printed(
      new RegExp(`the agent waits until the Ironic at ${ironic} gives it its node, .*; enroll a node with a port`),
    )
    expect(agent.stderr).not.toContain('warn')
    agent.stop()
    expect(await agent.ended).toBe(0)
    up.stop()
    await up.ended
  })

  test('serves clients with its token without an Ironic; ends when its machine was switched off', async () => {
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

  test('a machine of a state folder is taken up by its id, and continues in the same boot', async () => {
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

  test('a file of ironic-python-agent: its Ironic, where it listens, how it is reached; what is named here wins', async () => {
    const up = command(['up', '--port', '0'])
    const [, url] = await up.printed(/ready at (\S+)/)
    const dir = await mkdtemp(join(tmpdir(), 'ironstage-agent-'))
    const port = await freePort()
    await writeFile(
      join(dir, '10-ironic.conf'),
      '# as an installer writes it\n[DEFAULT]\napi_url = http://127.0.0.1:1\nlisten_host = 127.0.0.1\n',
    )
    await writeFile(
      join(dir, '20-here.conf'),
      `[DEFAULT]\napi_url = ${url}/\nlisten_port: ${port}\nadvertise_host = agent.example\nadvertise_port = 8443\n` +
        'advertise_protocol = https\n[container]\nrunner = podman\n',
    )
    await writeFile(join(dir, 'README'), 'not for the agent')
    const own = join(dir, 'own.yaml')
    await writeFile(own, '# options of ironstage\nmac: 52:54:00:0A:BC:DE\n')

    const { agent, ready } = await started('--config', dir, '--config', own)
    expect(ready).toMatchObject({
      callback_url: 'https://agent.example:8443',
      ironic_url: url,
      macs: ['52:54:00:0a:bc:de', expect.any(String)],
    })
    expect((await fetch(`http://127.0.0.1:${port}/v1/status`)).status).toBe(503)
    agent.stop()
    expect(await agent.ended).toBe(0)

    const other = await started('--config', dir, '--listen', '127.0.0.1:0', '--ironic-url', 'http://127.0.0.1:2')
    expect(other.ready).toMatchObject({ ironic_url: 'http://127.0.0.1:2' })
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
    other.agent.stop()
    await other.agent.ended
    up.stop()
    await up.ended
  })

  test('kernel parameters name the Ironic; listening on every address, the agent is reached by the one towards it', async () => {
    const params = `ipa-api-url=http://127.0.0.1:1 ipa-listen-port=${await freePort()}`
    const { agent, ready } = await started('--kernel-params', params)
    expect(ready.callback_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(params).toContain(new URL(ready.callback_url).port)
    agent.stop()
    expect(await agent.ended).toBe(0)
  })

  test('listen_tls: the certificate of the files, from the start', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'ironstage-agent-'))
    const clock = systemClock()
    const made = await selfSigned({ hostname: 'agent', address: '127.0.0.1', random: seededRandom(1), clock })
    await writeFile(join(dir, 'cert.pem'), made.certificate)
    await writeFile(join(dir, 'key.pem'), made.key)
    const file = join(dir, 'ipa.conf')
    const tls = `tls_cert_file = ${dir}/cert.pem\ntls_key_file = ${dir}/key.pem\n`
    await writeFile(file, `[DEFAULT]\nlisten_tls = True\n${tls}`)
    const { agent, ready } = await started('--standalone', '--token', TOKEN, '--config', file)
    expect(ready.callback_url).toMatch(/^https:/)
    await using transport = new HttpTransport({ clock, tls: { ca: made.certificate } })
    const status = { method: 'GET', url: `${ready.callback_url}/v1/status`, headers: {} }
    expect(await transport.send(status)).toMatchObject({ status: 200 })
    agent.stop()
    expect(await agent.ended).toBe(0)

    await rm(join(dir, 'key.pem'))
    const refused = command(['agent', '--standalone', '--config', file])
    expect(await refused.ended).toBe(1)
    expect(refused.stderr).toMatch(/options name the file .*key\.pem, which cannot be read.*because: .*ENOENT/s)
  })

  test('--hardware: a new machine of what the file says', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'ironstage-agent-')), 'server.yaml')
    await writeFile(
      file,
      'firmware: bios\ncpus: 2\nmemoryMib: 4096\nproduct: Small One\nnics: [{}, { pxe: true }, {}]\n' +
        'disks: [{ size: 20GiB }, { size: 1TB, transport: nvme, rotational: false }, { serial: XYZ }]\n',
    )
    const mac = '52:54:00:0a:bc:de'
    const of = ['--standalone', '--token', TOKEN, '--hardware', file, '--mac', mac]
    const { agent, ready } = await started(...of)
    const { body } = await ordered(ready.callback_url, 'poll.get_hardware_info')
    const inventory = body['command_result'] as Inventory
    expect(inventory).toMatchObject({
      cpu: { count: 2 },
      memory: { physical_mb: 4096 },
      system_vendor: { product_name: 'Small One' },
      boot: { current_boot_mode: 'bios' },
    })
    expect(inventory.disks.map(({ name, size }) => [name, size / 2 ** 30]).slice(0, 1)).toEqual([['/dev/sda', 20]])
    expect(inventory.disks.map(({ name }) => name).sort()).toEqual(['/dev/nvme1n1', '/dev/sda', '/dev/sdc'])
    expect(inventory.disks.find(({ name }) => name === '/dev/sdc')).toMatchObject({ serial: 'XYZ' })
    expect(new Set(inventory.disks.map(({ wwn }) => wwn)).size).toBe(3)
    expect(inventory.interfaces.map((nic) => nic.mac_address)).toContain(mac)
    expect(new Set(ready.macs).size).toBe(3)
    agent.stop()
    expect(await agent.ended).toBe(0)
  })

  test.each<[string, string, RegExp]>([
    ['no YAML', 'a: [', /hardware file .* is not YAML/],
    ['an unknown key', 'cpu: 3', /it has an unknown key "cpu"/],
    ['an unknown key of a disk', 'disks: [{ gib: 3 }]', /disks\.0 has an unknown key "gib"/],
    ['a size that is none', 'disks: [{ size: big }]', /disks\.0\.size must match/],
  ])('refuses hardware with %s', async (_, text, message) => {
    const file = join(await mkdtemp(join(tmpdir(), 'ironstage-agent-')), 'server.yaml')
    await writeFile(file, text)
    const agent = command(['agent', '--standalone', '--hardware', file])
    expect(await agent.ended).toBe(2)
    expect(agent.stderr).toMatch(message)
  })

  test.each<[string, string, RegExp]>([
    ['agent.conf', 'api_url = http://h\n', /line 1 of .*agent\.conf comes before any section: api_url = \.\.\./],
    ['agent.conf', '[DEFAULT]\napi_url = nowhere\n', /api_url = nowhere in .*agent\.conf, which it cannot use/],
    ['agent', '; remark\n[DEFAULT]\nlisten_port = many\n', /listen_port = many in .*agent, which it cannot use/],
    ['own.yaml', 'prot: 1\n', /has an unknown key prot/],
    ['own.yaml', 'api_url = http://h\n', /is not a set of keys and values/],
  ])('refuses the config file %s with %j', async (name, text, message) => {
    const file = join(await mkdtemp(join(tmpdir(), 'ironstage-agent-')), name)
    await writeFile(file, text)
    const agent = command(['agent', '--config', file])
    expect(await agent.ended).not.toBe(0)
    expect(agent.stderr).toMatch(message)
  })

  test.each<[string, string[], RegExp]>([
    ['no Ironic', [], /an agent needs its Ironic.*--ironic-url/s],
    ['a disk that is not surely named', ['--standalone', '--target', 'local:/dev/loop0'], /another disk may have/],
    [
      'a machine behind SSH without a disk',
      ['--standalone', '--target', 'ssh://core@h'],
      /which disk of ssh:\/\/core@h/,
    ],
    [
      'a token without --standalone',
      ['--ironic-url', 'http://h', '--token', TOKEN],
      /--token is for a standalone agent/,
    ],
    ['an Ironic with --standalone', ['--ironic-url', 'http://h', '--standalone'], /--ironic-url means nothing/],
    ['half of a machine', ['--standalone', '--machine', 'm'], /--state-dir and --machine go together/],
    ['no MAC address', ['--standalone', '--mac', 'zz'], /--mac is "zz"/],
    ['no port', ['--standalone', '--listen', '127.0.0.1'], /--listen is "127\.0\.0\.1"/],
    ['a port that is none', ['--standalone', '--listen', '127.0.0.1:70000'], /there is no port 70000/],
    ['a URL that is none', ['--kernel-params', 'ipa-api-url=ftp://h'], /ipa-api-url=ftp:\/\/h, which it cannot use/],
    ['a config file that is not there', ['--config', '/none/a.conf'], /config file \/none\/a\.conf cannot be read/],
    [
      'hardware for a machine that there is',
      ['--standalone', '--state-dir', 'd', '--machine', 'm', '--hardware', 'h'],
      /--hardware is for a new machine/,
    ],
    [
      'an address that is not of this host',
      ['--ironic-url', 'http://127.0.0.1:1', '--kernel-params', 'ipa-listen-host=192.0.2.1'],
      /cannot listen on 192\.0\.2\.1/,
    ],
    [
      'a network interface that is not there',
      ['--ironic-url', 'http://h', '--kernel-params', 'ipa-listen-port=0 ipa-network-interface=none0'],
      /network interface none0 has no IPv4 address here.*advertise_host/s,
    ],
    [
      'an Ironic to which no way leads',
      ['--ironic-url', 'http://ironic.invalid', '--listen', '0.0.0.0:0'],
      /cannot tell by which address Ironic reaches it.*ironic\.invalid.*advertise_host/s,
    ],
  ])('refuses a command line with %s', async (_, args, message) => {
    const agent = command(['agent', ...args])
    expect(await agent.ended).not.toBe(0)
    expect(agent.stderr).toMatch(message)
  })
})
