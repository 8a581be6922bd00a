import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { PROMPT_PACE, selfSigned } from '../../agent/index.js'
import { openStateFolder } from '../../lab/index.js'
import { LabClient } from '../../control/index.js'
import { readFleet } from '../../machine/index.js'
import { LabClock, defined, silent, systemClock, systemRandom, type Logger } from '../../base/runtime/index.js'
import { hostsText, openFleet, readSystems, type Fleet, type FleetOptions, type ListedSystem } from './index.js'

const FILE = new URL('../../test/fixtures/systems/nodes.json', import.meta.url.replace('/dist/apps/', '/apps/'))
const SYSTEMS = readSystems(await readFile(FILE, 'utf8'), 'nodes.json')
const [FIRST, SECOND] = SYSTEMS as [ListedSystem, ListedSystem]
const NODES = { bootInterface: 'ipxe', driverInfo: {} }
/** Account in the Secrets of Metal3's create-bmhs.py. */
const ACCOUNT = { username: 'admin', password: 'password' }
const AUTHORIZATION = `Basic ${Buffer.from('admin:password').toString('base64')}`

const fleet = (options: Partial<FleetOptions> = {}): Promise<Fleet> =>
  openFleet({
    count: 0,
    systems: SYSTEMS,
    redfish: { port: 0 },
    account: ACCOUNT,
    clock: new LabClock({ mode: 1 }),
    random: systemRandom,
    logger: silent,
    ...options,
  })

async function call(of: Fleet, path: string, method = 'GET', body?: unknown) {
  const answer = await fetch(`${of.redfishUrl}/redfish/v1/${path}`, {
    method,
    headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
    ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> }
}

/** An Ironic that knows no node, and notes the requests that it gets. */
async function refusingIronic(tls?: { certificate: string; key: string }) {
  const requests: { what: string; body: string }[] = []
  const answer: RequestListener = (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      requests.push({ what: `${request.method} ${request.url}`, body: Buffer.concat(parts).toString() })
      if (request.url === '/') return void response.end('{"default_version": {"id": "v1", "version": "1.99"}}')
      return void response.writeHead(404).end('{"error_message": "Not Found"}')
    })
  }
  const server = tls ? createTlsServer({ cert: tls.certificate, key: tls.key }, answer) : createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

describe("machines of sushy-tools' list of systems", () => {
  test('have its uuids, names and MAC addresses, and are found by the paths of its clients', async () => {
    await using there = await fleet()
    const { uuid, path } = { uuid: FIRST.id, path: `Systems/${FIRST.id}` }
    expect(await call(there, path)).toMatchObject({
      status: 200,
      body: { '@odata.id': `/redfish/v1/${path}`, Name: 'test1', UUID: uuid, PowerState: 'Off' },
    })
    for (const other of [`Systems/${uuid.toUpperCase()}`, 'Systems/test1'])
      expect(await call(there, other)).toMatchObject({ status: 200, body: { Id: uuid } })
    expect(await call(there, 'Systems/test4')).toMatchObject({ status: 404 })
    const { body } = await call(there, 'Systems')
    expect(body['Members']).toEqual(SYSTEMS.map(({ id }) => ({ '@odata.id': `/redfish/v1/Systems/${id}` })))
    expect((await call(there, `${path}/EthernetInterfaces/eno1`)).body).toMatchObject({
      MACAddress: '92:1f:0c:5a:11:01',
      IPv4Addresses: [{ Address: '192.168.0.100' }],
    })
    expect((await call(there, `${path}/EthernetInterfaces`)).body).toMatchObject({ 'Members@odata.count': 1 })
  })

  test.each([
    'Chassis',
    'Chassis/ID',
    'Chassis/ID/Thermal',
    'Managers',
    'Managers/ID',
    'Systems',
    'Systems/ID',
    'Systems/ID/BIOS',
    'Systems/ID/BIOS/Settings',
    'Systems/ID/SecureBoot',
    'Systems/ID/Processors',
    'Systems/ID/SimpleStorage',
    'Systems/ID/Storage',
    'Systems/ID/EthernetInterfaces',
    'Systems/ID/EthernetInterfaces/MAC',
    'Registries',
    'Systems/ID/VirtualMedia',
    'Systems/ID/VirtualMedia/Cd',
    'Managers/ID/VirtualMedia',
    'Managers/ID/VirtualMedia/Cd',
    'Systems/ID/VirtualMedia/Cd/Certificates',
    'UpdateService',
    'TaskService',
    'CertificateService',
    'CertificateService/CertificateLocations',
    'Registries/BiosAttributeRegistry.v1_0_0',
  ])("answer at sushy-emulator's route %s, also with a slash at its end", async (route) => {
    await using there = await fleet()
    const path = route.replace('ID', FIRST.id).replace('MAC', FIRST.nics[0]!.mac)
    expect([(await call(there, path)).status, (await call(there, `${path}/`)).status]).toEqual([200, 200])
  })

  test('are listed for other programs by their names', async () => {
    await using there = await fleet()
    const { nodes } = JSON.parse(hostsText('nodes.json', there.hosts(), NODES)) as { nodes: object[] }
    expect(nodes[0]).toMatchObject({
      name: 'test1',
      ports: [{ address: '92:1f:0c:5a:11:01', pxe_enabled: true }],
      driver_info: { redfish_system_id: `/redfish/v1/Systems/${FIRST.id}` },
    })
    const [, host] = parseAllDocuments(hostsText('hosts.yaml', there.hosts(), NODES)).map((each) => each.toJSON())
    expect(host).toMatchObject({ metadata: { name: 'test1' }, spec: { bootMACAddress: '92:1f:0c:5a:11:01' } })
    await using other = await fleet({ systems: [{ ...FIRST, name: 'Test_1' }] })
    expect(() => hostsText('hosts.yaml', other.hosts(), NODES)).toThrow(/Test_1 cannot name a BareMetalHost/)
    expect(hostsText('nodes.json', other.hosts(), NODES)).toContain('"Test_1"')
  })

  test('have the power, the boot device and the boot mode of the list, and hardware by their place in it', async () => {
    const hardware = readFleet({ machines: [{ cpus: 4 }, { cpus: 96, nics: [{}, {}] }] }, 'a fleet')
    const listed = SYSTEMS.map((system) => ({ ...system }))
    Object.assign(listed[0]!, { isOn: true, bootDevice: 'Pxe', firmware: 'bios' })
    await using there = await fleet({ systems: listed, hardware })
    expect((await call(there, `Systems/${FIRST.id}`)).body).toMatchObject({
      PowerState: 'On',
      Boot: {
        BootSourceOverrideTarget: 'Pxe',
        BootSourceOverrideEnabled: 'Continuous',
        BootSourceOverrideMode: 'Legacy',
      },
    })
    expect(there.machines.list().map(({ spec: { cpus, nics } }) => [cpus, nics.length])).toEqual([
      [4, 1],
      [96, 1],
      [4, 1],
    ])
    expect(there.machines.get(SECOND.id)!.power()).toBe('off')
  })

  test('have the NICs of any machine where the list names none, and no identity of a machine that is added', async () => {
    await using there = await fleet({ systems: SYSTEMS.map((system) => ({ ...system, nics: [] })) })
    await new LabClient(there.controlUrl).addMachines({ count: 3 })
    const specs = there.machines.list().map(({ spec }) => spec)
    const values = specs.flatMap(({ serial, nics, disks }) => [
      serial,
      ...nics.map(({ mac }) => mac),
      ...disks.flatMap((disk) => [disk.serial, disk.wwn]),
    ])
    expect(specs).toHaveLength(6)
    expect(values).toHaveLength(6 * 7)
    expect(new Set(values).size).toBe(values.length)
  })

  test('boot over the network an agent that calls the Ironic, with inspection data first, as with fake-ipa', async () => {
    const ironic = await refusingIronic()
    await using there = await fleet({ ironicUrl: `${ironic.url}/`, agentPace: PROMPT_PACE })
    const path = `Systems/${FIRST.id}`
    const Boot = {
      BootSourceOverrideTarget: 'Pxe',
      BootSourceOverrideEnabled: 'Once',
      BootSourceOverrideMode: 'Legacy',
    }
    expect(await call(there, path, 'PATCH', { Boot })).toMatchObject({ status: 200 })
    await call(there, `${path}/Actions/ComputerSystem.Reset`, 'POST', { ResetType: 'On' })
    const whats = () => ironic.requests.map(({ what }) => what)
    await expect
      .poll(whats, { timeout: 10_000 })
      .toContainEqual(expect.stringMatching(/^GET \/v1\/lookup\?.*92(:|%3A)1f/))
    expect(whats()[0]).toBe('POST /v1/continue_inspection')
    expect(JSON.parse(ironic.requests[0]!.body)).toMatchObject({
      inventory: { interfaces: [{ mac_address: '92:1f:0c:5a:11:01', ipv4_address: '192.168.0.100' }] },
    })
    expect(there.machines.get(FIRST.id)!.boot()).toMatchObject({ outcome: 'ramdisk' })
    expect(there.machines.get(SECOND.id)!.power()).toBe('off')
  })

  test.each([
    ['by the certificate that the fleet has', true, ['POST /v1/continue_inspection']],
    ['by those that this host trusts, and call no other', false, []],
  ])('have agents that verify the Ironic %s', async (_, isTrusted, expected) => {
    const about = { hostname: 'ironic', address: '127.0.0.1', random: systemRandom, clock: systemClock() }
    const identity = await selfSigned(about)
    const ironic = await refusingIronic(identity)
    const ironicTls = { insecure: false, ...defined({ ca: isTrusted ? identity.certificate : undefined }) }
    await using there = await fleet({ ironicUrl: `${ironic.url}/v1`, ironicTls, agentPace: PROMPT_PACE })
    const machine = there.machines.get(FIRST.id)!
    await machine.firmware.boot.setOverride({ target: 'Pxe', enabled: 'Once' })
    await machine.setPower('on')
    const ended = /the agent: (Ironic refused|giving up on sending) the inspection data/
    await expect.poll(() => machine.console().join('\n'), { timeout: 10_000 }).toMatch(ended)
    expect(ironic.requests.map(({ what }) => what).filter((what) => what.startsWith('POST'))).toEqual(expected)
  })

  test('with a boot script boot by that', async () => {
    const ironic = await refusingIronic()
    await using there = await fleet({ ironicUrl: ironic.url, bootScript: `${ironic.url}/boot.ipxe` })
    const machine = there.machines.get(FIRST.id)!
    await machine.firmware.boot.setOverride({ target: 'Pxe', enabled: 'Once' })
    await machine.setPower('on')
    await expect
      .poll(() => machine.console().join('\n'), { timeout: 10_000 })
      .toContain('/boot.ipxe could not be fetched')
  })
})

describe('a state folder with a list of systems', () => {
  async function folder(): Promise<string> {
    const made = await mkdtemp(join(tmpdir(), 'ironstage-systems-'))
    onTestFinished(() => rm(made, { recursive: true, force: true }))
    return join(made, 'state')
  }

  async function opened(path: string, systems: readonly ListedSystem[], work?: (there: Fleet) => Promise<void>) {
    const log: string[] = []
    const logger: Logger = (level, message) => void (level === 'warn' && log.push(message))
    using stored = await openStateFolder(path)
    await using there = await fleet({ folder: stored, systems, logger })
    await work?.(there)
    const specs = there.machines.list().map(({ spec }) => JSON.parse(JSON.stringify(spec)) as typeof spec)
    return { log, specs: specs.sort((one, other) => (one.id < other.id ? -1 : 1)) }
  }

  test('has the same machines after a start with the same list', async () => {
    const path = await folder()
    const before = await opened(path, SYSTEMS, async (there) => there.machines.get(FIRST.id)!.setPower('on'))
    const after = await opened(path, SYSTEMS, (there) => {
      expect(there.machines.get(FIRST.id)!.power()).toBe('on')
      return call(there, 'Systems/test1').then(({ status }) => expect(status).toBe(200))
    })
    expect(after.log).toEqual([])
    expect(after.specs).toEqual(before.specs)
  })

  test('gets the machines that a changed list adds; the others stay, with a warning of what differs', async () => {
    const path = await folder()
    await opened(path, SYSTEMS)
    const added = { ...FIRST, id: 'b', name: 'b', nics: [] }
    const { log, specs } = await opened(path, [added, { ...SECOND, name: 'renamed' }])
    expect(specs.map(({ id }) => id).sort()).toEqual([...SYSTEMS.map(({ id }) => id), 'b'].sort())
    expect(new Set(specs.map(({ serial }) => serial)).size).toBe(4)
    expect(specs.find(({ id }) => id === SECOND.id)).toMatchObject({ name: 'test2' })
    expect(log).toEqual([
      'the state folder has 2 machines that the list of systems lacks; they stay',
      'the state folder has 1 machine with another name or other MAC addresses than the list of systems says; they stay as they are',
    ])
  })

  test('refuses a list with a MAC address of a machine that it has', async () => {
    const path = await folder()
    await opened(path, SYSTEMS)
    await expect(opened(path, [{ ...FIRST, id: 'b', name: 'b' }])).rejects.toMatchObject({
      code: 'systems-file',
      message: expect.stringMatching(/system b has the MAC address 92:1f:0c:5a:11:01 of machine c1d0b3a6/) as string,
    })
  })
})
