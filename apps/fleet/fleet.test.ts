import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { lstat, mkdir, rmdir, symlink, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { PROMPT_PACE } from '../../agent/index.js'
import { openStateFolder, type StateFolder } from '../../lab/index.js'
import { LabClient, type Fault, type FaultKind } from '../../control/index.js'
import { defaultMachineSpec, readFleet } from '../../machine/index.js'
import { wantedHosts } from '../../baremetal-operator/index.js'
import { LabClock, silent, systemRandom } from '../../base/runtime/index.js'
import { openSession } from '../../test/kit/ipmi/caller.js'
import { overUdp } from '../../test/kit/ipmi/over-udp.js'
import { pageCall } from '../../test/kit/api/page-call.js'
import { hostsText, MIXED_RACK, openFleet, writeHosts, type Fleet, type FleetOptions } from './index.js'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'ironstage-fleet-'))))
afterEach(() => rm(folder, { recursive: true, force: true }))

const ACCOUNT = { username: 'admin', password: 'the password' }
const NODES = { bootInterface: 'redfish-virtual-media', driverInfo: {} }

const fleet = (options: Partial<FleetOptions> = {}): Promise<Fleet> =>
  openFleet({
    count: 2,
    redfish: { port: 0 },
    account: ACCOUNT,
    clock: new LabClock({ mode: 1 }),
    random: systemRandom,
    logger: silent,
    ...options,
  })

const basic = ({ username, password }: { username: string; password: string }) => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
})

async function system(of: Fleet, id: string, account = ACCOUNT): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${of.redfishUrl}/redfish/v1/Systems/${id}`, { headers: basic(account) })
  return { status: answer.status, body: await answer.json() }
}

describe('a fleet', () => {
  test('has machines whose BMCs take its account, and whose accounts can be changed', async () => {
    await using there = await fleet()
    expect(await system(there, 'machine-2')).toMatchObject({ status: 200, body: { PowerState: 'Off' } })
    expect((await system(there, 'machine-2', { username: 'admin', password: 'wrong' })).status).toBe(401)
    const lab = new LabClient(there.controlUrl)
    await lab.bmcAccountOfMachine('machine-2', { username: 'root', password: 'other' })
    expect((await system(there, 'machine-2')).status).toBe(401)
    expect((await system(there, 'machine-2', { username: 'root', password: 'other' })).status).toBe(200)
    expect(there.hosts().map(({ name, account }) => [name, account.username])).toEqual([
      ['machine-1', 'admin'],
      ['machine-2', 'root'],
    ])
  })

  test('takes IPMI on a port a machine, with the password that it made, also for machines that are added and gone', async () => {
    await using there = await fleet({ account: {}, ipmi: { port: 0 } })
    const { account } = there.hosts()[0]!
    const status = async (port: number): Promise<number[]> => {
      using bmc = overUdp(port, 500)
      return [...(await (await openSession(bmc, account)).done(0x00, 0x01))]
    }
    const port = there.ipmiAddress('machine-2')!.port
    expect(await status(port)).toEqual([0, 0, 0x40])
    await there.machines.get('machine-2')!.setPower('on')
    expect(await status(port)).toEqual([1, 0, 0x40])
    const lab = new LabClient(there.controlUrl)
    await lab.addMachines({ count: 1 })
    expect(await status(there.ipmiAddress('machine-3')!.port)).toEqual([0, 0, 0x40])
    await lab.removeMachine('machine-2')
    expect(there.ipmiAddress('machine-2')).toBeUndefined()
    await expect(status(port)).rejects.toMatchObject({ status: null })
  })

  test('lists its machines for the hardware type ipmi, where their BMCs take it', async () => {
    await using there = await fleet({ count: 1, ipmi: { port: 0 } })
    const { port } = there.ipmiAddress('machine-1')!
    const options = { ...NODES, driver: 'ipmi' as const, bootInterface: 'ipxe' }
    const { nodes } = JSON.parse(hostsText('nodes.json', there.hosts(), options)) as { nodes: object[] }
    expect(nodes).toMatchObject([
      {
        name: 'machine-1',
        driver: 'ipmi',
        boot_interface: 'ipxe',
        driver_info: {
          ipmi_address: '127.0.0.1',
          ipmi_port: port,
          ipmi_username: 'admin',
          ipmi_password: 'the password',
        },
      },
    ])
    expect(JSON.stringify(nodes)).not.toContain('redfish')
    const [, host] = parseAllDocuments(hostsText('hosts.yaml', there.hosts(), options)).map((each) => each.toJSON())
    expect(host.spec.bmc.address).toBe(`ipmi://127.0.0.1:${port}`)
    expect(hostsText('hosts.csv', there.hosts(), NODES)).toContain(`,127.0.0.1:${port}\r\n`)
    await using without = await fleet({ count: 1 })
    expect(() => hostsText('nodes.json', without.hosts(), options)).toThrow(/machine-1 does not support IPMI/)
  })

  test('an agent that calls before Ironic waits for its data says so on the console and in the journal', async () => {
    const ironic = createServer((request, response) => {
      request.resume()
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error_message": "Not Found"}')
    })
    await new Promise<void>((resolve) => ironic.listen(0, '127.0.0.1', resolve))
    try {
      await using there = await fleet({ agentPace: PROMPT_PACE })
      const machine = there.machines.get('machine-1')!
      const url = `http://127.0.0.1:${(ironic.address() as AddressInfo).port}`
      const parameters = { 'ipa-api-url': url, 'ipa-inspection-callback-url': `${url}/v1/continue_inspection` }
      await machine.setBoot({ kind: 'ramdisk', parameters })
      await machine.setPower('on')
      const why = /the agent: Ironic refused the inspection data: 404 .*the ramdisk booted too early/
      await expect.poll(() => machine.console().join('\n'), { timeout: 10_000 }).toMatch(why)
      const [noted] = there.journal.entries({ machine: 'machine-1', kind: 'lab' })
      expect(noted).toMatchObject({ what: expect.stringMatching(why) as string })
      expect(there.journal.calls('POST /v1/continue_inspection')).toHaveLength(1)
    } finally {
      ironic.closeAllConnections()
      ironic.close()
    }
  })

  test('says in the journal why a machine did not boot', async () => {
    await using there = await fleet({ count: 1 })
    const machine = there.machines.get('machine-1')!
    await machine.firmware.insert('cdrom', 'http://127.0.0.1:9/none.iso')
    await machine.setPower('on')
    const failed = () => there.journal.entries({ machine: 'machine-1', kind: 'boot' }).at(-1)
    await expect.poll(failed, { timeout: 10_000 }).toMatchObject({ what: 'no bootable device' })
    expect(failed()).toMatchObject({
      error: expect.stringMatching(/^disk: no bootable system; virtual CD: .* could not be fetched: /) as string,
    })
  })

  test('tells a change of power from the request for it in the journal', async () => {
    await using there = await fleet({ count: 1 })
    const machine = there.machines.get('machine-1')!
    await machine.setPower('on')
    await machine.setPower('on')
    const entries = there.journal.entries({ machine: 'machine-1', kind: 'power' })
    expect(entries.map((entry) => 'what' in entry && entry.what)).toEqual(['on', 'request: on', 'request: on'])
  })

  test('gets machines, loses them, and makes one new, while it runs', async () => {
    await using there = await fleet()
    const lab = new LabClient(there.controlUrl)
    const added = await lab.addMachines({ count: 2, hardware: { cpus: 96 } })
    expect(added.machines.map(({ id, hardware }) => [id, hardware.cpus])).toEqual([
      ['machine-3', 96],
      ['machine-4', 96],
    ])
    await lab.removeMachine('machine-1')
    expect((await system(there, 'machine-1')).status).toBe(404)
    const machine = there.machines.get('machine-3')!
    await machine.firmware.insert('cdrom', 'http://192.0.2.1/boot.iso')
    await machine.setPower('on')
    const fresh = await lab.reimageMachine('machine-3', { hardware: { cpus: 4 } })
    expect(fresh).toMatchObject({ power: 'off', hardware: { cpus: 4 } })
    expect(there.machines.get('machine-3')!.firmware.inserted('cdrom')).toBeUndefined()
    expect(there.machines.get('machine-3')!.spec.nics[0]!.mac).toBe(machine.spec.nics[0]!.mac)
  })

  test('is not controlled by web pages of other servers', async () => {
    await using there = await fleet({ advertise: 'rack.example' })
    const { controlUrl } = there
    const added = `${controlUrl}/_lab/machines`
    expect(await pageCall(added, { origin: 'http://evil.example' })).toBe(403)
    expect(await pageCall(added, { host: 'evil.example' })).toBe(403)
    expect(there.machines.list()).toHaveLength(2)
    expect(await pageCall(added, { origin: controlUrl })).toBe(201)
    expect(await pageCall(added, { host: 'rack.example' })).toBe(201)
  })

  test('has faults and a journal of its BMCs, and a clock that is scaled alone', async () => {
    await using there = await fleet()
    const lab = new LabClient(there.controlUrl)
    await lab.addFault({ match: { machine: 'machine-1' }, effect: { kind: 'bmc-busy', retryAfter: 7 }, times: 1 })
    const busy = await fetch(`${there.redfishUrl}/redfish/v1/Systems/machine-1`, { headers: basic(ACCOUNT) })
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '7'])
    const { entries } = await lab.journal({ kind: 'bmc', machine: 'machine-1' })
    expect(entries.at(-1)).toMatchObject({ fault: 'fault-1', status: 503 })
    expect(await lab.setClock({ mode: 'x10' })).toMatchObject({ mode: 'x10' })
    await expect(lab.setClock({ mode: 'manual' })).rejects.toMatchObject({ code: 'clock-fixed' })
    await expect(lab.advance({ by: '1h' })).rejects.toMatchObject({ code: 'clock-fixed' })
    await expect(lab.enroll({ count: 1 })).rejects.toMatchObject({ code: 'not-in-a-fleet' })
    await expect(lab.takeSnapshot()).rejects.toMatchObject({ code: 'not-in-a-fleet' })
  })

  test.each<[string, Fault['match'], FaultKind]>([
    ['tells no state here', { state: 'deploying' }, 'agent-silent'],
    ['tells no phase here', { machine: 'machine-1', phase: 'install' }, 'agent-silent'],
    ['tells no node here', { node: 'lab~worker-0' }, 'agent-silent'],
    ['only its exchanges with agents pass here', { route: 'PUT /v1/nodes/:id/states/provision' }, 'hang'],
    ['only its exchanges with agents pass here', { machine: 'machine-1' }, 'empty-last-error'],
  ])('refuses a fault that could strike only where its Ironic is: %s, %j', async (message, match, kind) => {
    await using there = await fleet()
    const fault = { match, effect: { kind } } as Fault
    expect(() => there.faults.add(fault)).toThrow(message)
    expect(there.faults.list()).toEqual([])
  })

  test.each<Fault['match']>([
    { machine: 'machine-1', route: 'POST /v1/heartbeat' },
    { machine: 'machine-1', route: 'POST /v1/commands' },
    { machine: 'machine-1', step: 'install_coreos' },
    { machine: 'machine-1', to: 'images', route: 'GET /disk.raw' },
    { to: 'ironic' },
  ])('takes a fault of what passes here: %j', async (match) => {
    await using there = await fleet()
    there.faults.add({ match, effect: { kind: 'delay', ms: 1 } })
    expect(there.faults.list()).toMatchObject([{ match }])
  })

  test('of a state folder is what it was: accounts, ports, power, boot override, further machines', async () => {
    const open = async (stored: StateFolder) => fleet({ folder: stored, account: {}, agents: { port: 0 } })
    let before: { redfishUrl: string; agentsUrl: string; password: string }
    {
      using stored = await openStateFolder(join(folder, 'state'))
      await using there = await open(stored)
      const { redfishUrl, agentsUrl } = there
      before = { redfishUrl, agentsUrl, password: there.hosts()[0]!.account.password }
      await there.machines.get('machine-2')!.firmware.boot.setOverride({ target: 'Cd', enabled: 'Once' })
      await there.machines.get('machine-1')!.setPower('on')
      await new LabClient(there.controlUrl).addMachines({ count: 1 })
      await new LabClient(there.controlUrl).bmcAccountOfMachine('machine-2', { username: 'root', password: 'other' })
    }
    expect(before.password.length).toBe(20)
    using stored = await openStateFolder(join(folder, 'state'))
    await using there = await open(stored)
    const { redfishUrl, agentsUrl } = there
    expect({ redfishUrl, agentsUrl, password: there.hosts()[0]!.account.password }).toEqual(before)
    expect(there.machines.list().map(({ spec }) => spec.id)).toEqual(['machine-1', 'machine-2', 'machine-3'])
    expect(there.machines.get('machine-1')!.power()).toBe('on')
    expect(there.machines.get('machine-2')!.firmware.boot.override).toMatchObject({ target: 'Cd', enabled: 'Once' })
    expect((await system(there, 'machine-2', { username: 'root', password: 'other' })).status).toBe(200)
  })

  test('with --tls makes its own certificate, and the hosts files turn verification off', async () => {
    await using there = await fleet({ tls: 'own' })
    expect(there.redfishUrl).toMatch(/^https:/)
    expect(await readFile(there.caFile!, 'utf8')).toContain('BEGIN CERTIFICATE')
    const { nodes } = JSON.parse(hostsText('nodes.json', there.hosts(), NODES)) as { nodes: object[] }
    expect(nodes[0]).toMatchObject({ driver_info: { redfish_verify_ca: false } })
  })

  test.each([
    ['an open address without a password', { redfish: { host: '0.0.0.0', port: 0 }, account: {} }, /password/],
    [
      'all addresses, of which none is advertised',
      { redfish: { host: '0.0.0.0', port: 0 } },
      /which one does Ironic reach/,
    ],
  ])('refuses an address that Ironic cannot reach: %s', async (_, options, why) => {
    await expect(fleet(options)).rejects.toMatchObject({
      code: 'fleet-address',
      message: expect.stringMatching(why) as string,
    })
  })

  test('delivers some machines broken', async () => {
    await using there = await fleet({
      count: 3,
      hardware: readFleet({ machines: [{}, { broken: 'bmc' }, { broken: 'disk' }] }, 'a fleet'),
    })
    await expect(system(there, 'machine-2')).rejects.toThrow('fetch failed')
    expect((await system(there, 'machine-1')).status).toBe(200)
    expect(there.faults.list().map(({ match, effect }) => [match.machine, effect.kind])).toEqual([
      ['machine-2', 'bmc-silent'],
      ['machine-3', 'disk-error'],
    ])
    await new LabClient(there.controlUrl).reimageMachine('machine-2', {})
    expect(there.faults.list()).toHaveLength(2)
    await expect(system(there, 'machine-2')).rejects.toThrow('fetch failed')
  })
})

describe('the list of hosts', () => {
  test('replaces the file that a link leads to, and loses none that it cannot replace', async () => {
    await using there = await fleet({ count: 1 })
    const options = { bootInterface: 'ipxe', driverInfo: {}, clock: new LabClock({ mode: 1 }) }
    const file = join(folder, 'hosts.csv')
    const link = join(folder, 'link.csv')
    await writeFile(file, 'old')
    await symlink(file, link)
    await mkdir(join(folder, '.hosts.csv.new'))
    await expect(writeHosts(link, there.hosts(), options)).rejects.toMatchObject({ code: 'hosts-out' })
    expect(await readFile(file, 'utf8')).toBe('old')
    await rmdir(join(folder, '.hosts.csv.new'))
    await writeHosts(link, there.hosts(), options)
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
    expect(await readFile(file, 'utf8')).toContain('machine-1')
  })

  test('is one of nodes with their ports for baremetal create', async () => {
    await using there = await fleet({ count: 1 })
    const file = join(folder, 'nodes.json')
    await writeFile(file, 'something else', { mode: 0o644 })
    await writeHosts(file, there.hosts(), {
      bootInterface: 'ipxe',
      driverInfo: { deploy_kernel: 'http://192.0.2.1/kernel' },
      clock: new LabClock({ mode: 1 }),
    })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      nodes: [
        {
          name: 'machine-1',
          driver: 'redfish',
          boot_interface: 'ipxe',
          driver_info: {
            redfish_address: there.redfishUrl,
            redfish_system_id: '/redfish/v1/Systems/machine-1',
            redfish_username: 'admin',
            redfish_password: 'the password',
            deploy_kernel: 'http://192.0.2.1/kernel',
          },
          properties: { capabilities: 'boot_mode:uefi', cpu_arch: 'x86_64' },
          ports: [
            { address: '52:54:00:00:00:02', pxe_enabled: true },
            { address: '52:54:00:00:00:03', pxe_enabled: false },
          ],
        },
      ],
    })
  })

  test('is one of BareMetalHosts with Secrets, which BareMetal Operator takes', async () => {
    await using there = await fleet()
    const text = hostsText('hosts.yaml', there.hosts(), NODES)
    expect(parseAllDocuments(text)).toHaveLength(4)
    const { hosts, findings } = wantedHosts([{ name: 'hosts.yaml', text }])
    expect(findings.filter(({ kind }) => kind === 'error')).toEqual([])
    expect(hosts).toHaveLength(2)
    expect(text).toContain(`address: redfish-virtualmedia+${there.redfishUrl}/redfish/v1/Systems/machine-1`)
  })

  test('is an inventory', async () => {
    await using there = await fleet({ account: { username: 'admin', password: 'a "quoted", one' } })
    const [head, first] = hostsText('inventory.csv', there.hosts(), NODES).split('\r\n')
    expect(head).toMatch(/^name,bmc_address,system,username,password,boot_mac,/)
    expect(first).toMatch(
      /^machine-1,http:\/\/127\.0\.0\.1:\d+,\/redfish\/v1\/Systems\/machine-1,admin,"a ""quoted"", one",52:54:00:00:00:02,/,
    )
  })

  test.each([
    ['redfish', 'no-such', /use redfish-virtual-media or redfish-https or ipxe, or write nodes to a .json file/],
    ['ipmi', 'pxe', /use ipxe, or/],
  ] as const)('of BareMetalHosts of %s has no boot interface %s', (driver, bootInterface, possible) => {
    const text = (file: string) => hostsText(file, [], { ...NODES, driver, bootInterface })
    expect(() => text('hosts.yaml')).toThrow(
      expect.objectContaining({ code: 'hosts-out', remedy: expect.stringMatching(possible) as string }),
    )
    expect(text('nodes.json')).toContain('"nodes"')
  })

  test('needs an ending that names its form', () => {
    expect(() => hostsText('hosts.txt', [], NODES)).toThrow(/hosts.txt does not say in which form/)
  })
})

test('the shipped rack is mixed, and one machine in a hundred is broken', async () => {
  const hardware = readFleet(parse(await readFile(MIXED_RACK, 'utf8')), 'the mixed rack')
  await using there = await fleet({ count: 100, hardware })
  const specs = there.machines.list().map(({ spec }) => spec)
  const all = <T>(of: (spec: (typeof specs)[number]) => T) => new Set(specs.map(of)).size
  expect(specs).toHaveLength(100)
  expect(specs.filter(({ broken }) => broken !== undefined)).toHaveLength(1)
  expect(all(({ manufacturer }) => manufacturer)).toBeGreaterThanOrEqual(5)
  expect(specs.some(({ disks }) => disks.some(({ sectorSize }) => sectorSize === 4096))).toBe(true)
  expect(new Set(specs.flatMap(({ disks }) => disks.map(({ transport }) => transport)))).toEqual(
    new Set(['nvme', 'sata', 'sas']),
  )
  expect(all(({ firmware }) => firmware)).toBe(2)
  expect(new Set(specs.flatMap(({ nics }) => nics.map(({ mac }) => mac))).size).toBe(200)
  expect(defaultMachineSpec(1).nics[0]!.mac).toBe(specs[0]!.nics[0]!.mac)
})
