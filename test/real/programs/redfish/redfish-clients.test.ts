import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { selfSigned } from '../../../../agent/index.js'
import { composeStage } from '../../../../lab/index.js'
import { defined, seededRandom, systemClock } from '../../../../base/runtime/index.js'
import type { TlsIdentity } from '../../../../base/wire/index.js'
import { ironicPeer } from '../../ironic.js'
import { dmtfClients, gofishProgram } from './peers.js'

/** The real clients of Redfish on the BMCs of a lab: sushy, which Ironic uses, DMTF's own, and gofish. */

const run = promisify(execFile)
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const ADMIN = { username: 'admin', password: 'secret-password' }
const GIB = 1024 ** 3

/** The certificates that the clients should trust are those of the test alone. */
const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], LC_ALL: 'C.UTF-8' }

let folder: string
let identity: TlsIdentity
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-redfish-'))
  identity = await selfSigned({
    hostname: 'images.test',
    address: '127.0.0.1',
    random: seededRandom(1),
    clock: systemClock(),
  })
  await writeFile(join(folder, 'certificate.pem'), identity.certificate)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function bmcs(machines: number, tls?: TlsIdentity) {
  const lab = await composeStage({
    disks: 'described',
    clock: systemClock(),
    bmcAccount: ADMIN,
    machines: Array.from({ length: machines }, (_, index) => ({ spec: index + 1, name: `node-${index}` })),
  })
  const served = await lab.redfish({ port: 0, ...defined({ tls }), updateTime: 1000 })
  onTestFinished(async () => {
    await served[Symbol.asyncDispose]()
    await lab[Symbol.asyncDispose]()
  })
  return { lab, url: served.url }
}

/** URL of an update of firmware. */
async function servedFirmware(): Promise<string> {
  const server = createServer((_, answer) => void answer.end('the firmware'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/bios-9.9.bin`
}

const seenBy = async (...argv: [string, ...string[]]): Promise<Record<string, unknown>> => {
  const { stdout } = await run(argv[0], argv.slice(1), { env, maxBuffer: 2 ** 24 })
  return JSON.parse(stdout) as Record<string, unknown>
}

test('sushy works every resource that it knows', async () => {
  const { lab, url } = await bmcs(2)
  const python = join(await ironicPeer(), 'bin/python')
  const certificate = join(folder, 'certificate.pem')
  const { username, password } = ADMIN
  const firmware = await servedFirmware()
  const seen = await seenBy(
    python,
    at('./sushy_client.py'),
    url,
    username,
    password,
    'machine-1',
    certificate,
    firmware,
  )
  const medium = ['http://127.0.0.1/agent.iso', true, 'reader', 'URI', true, 1, 1, 'images.test', false]
  expect(seen).toMatchObject({
    'wrong password': [401, 'NoValidSession'],
    unknown: [404, 'ResourceMissingAtURI'],
    systems: ['/redfish/v1/Systems/machine-1', '/redfish/v1/Systems/machine-2'],
    'nmi of a machine that is off': [409, 'ChassisPowerStateOnRequired'],
    boots: [
      ['Cd', 'Once', 'UEFI'],
      ['Pxe', 'Continuous', 'Legacy'],
      ['Hdd', 'Continuous', 'UEFI'],
      ['UefiHttp', 'http://127.0.0.1/boot.iso'],
    ],
    indicator: 'Blinking',
    'refused setting': [400, 'PropertyValueNotInList'],
    pending: { QuietBoot: 'Disabled' },
    attributes: [16, 16],
    applied: 'Disabled',
    'secure boot': [true, 'Disabled', 'UserMode'],
    'without keys': [false, 'SetupMode'],
    media: [medium, medium],
    nics: { '52:54:00:00:00:02': 'Enabled', '52:54:00:00:00:03': 'Enabled' },
    memory: 32,
    drives: [
      ['sda', 64 * GIB],
      ['sdb', 256 * GIB],
    ],
    expanded: [2],
    volume: ['RAID1', GIB, GIB],
    'volumes left': 0,
    chassis: ['RackMount', 2, 2, 1],
    manager: ['BMC', '2.0.0', true],
    update: [true, 'Completed', 'The request was carried out.', '9.9'],
    subscription: ['mine', ['Alert']],
    registries: expect.arrayContaining([
      'Base.1.22.0',
      'BiosAttributeRegistry.v1_0_0',
      'MachineEvent.1.0.0',
    ]) as unknown,
  })
  expect(lab.machines.get('machine-2')!.power()).toBe('off')
})

test('gofish works a machine', async () => {
  const { url } = await bmcs(2)
  const seen = await seenBy(await gofishProgram(), url, ADMIN.username, ADMIN.password, 'machine-2')
  expect(seen).toEqual({
    'wrong password': 401,
    boot: ['Pxe', 'Once', 6],
    'boot options': 6,
    applied: 'Disabled',
    'secure boot': true,
    medium: ['http://127.0.0.1/agent.iso', true],
    ejected: true,
    volumes: 0,
    nics: 2,
    hardware: [1, 2, 1],
    drives: expect.arrayContaining(['ISTAGE HDD 256', 'ISTAGE SSD 64']) as unknown,
    chassis: [2, 1, 2, 6],
    firmware: 8,
    subscriptions: 1,
    log: expect.objectContaining({ 'MachineEvent.1.0.PowerOn': 2, 'MachineEvent.1.0.MediaEjected': 1 }) as unknown,
    account: 'admin',
    roles: 3,
    tasks: 0,
    registries: 3,
  })
})

describe("DMTF's programs:", () => {
  test('redfishtool and redfish_utilities change what they should', async () => {
    const { lab, url } = await bmcs(1)
    const venv = await dmtfClients()
    const python = join(venv, 'bin/python')
    const { username, password } = ADMIN
    const redfishtool = (...argv: string[]) =>
      run(
        python,
        [
          join(venv, 'bin/redfishtool'),
          '-r',
          new URL(url).host,
          '-S',
          'Never',
          '-u',
          username,
          '-p',
          password,
          ...argv,
        ],
        { env },
      )
    const utility = (name: string, ...argv: string[]) =>
      run(python, [join(venv, 'bin', name), '-u', username, '-p', password, '-r', url, ...argv], { env })
    const machine = lab.machines.get('machine-1')!

    await redfishtool('-A', 'Session', 'Systems', '-I', 'machine-1', 'reset', 'On')
    expect(machine.power()).toBe('on')
    await redfishtool('Systems', '-I', 'machine-1', 'setBootOverride', 'Once', 'Pxe')
    expect(machine.firmware.boot.override).toMatchObject({ target: 'Pxe', enabled: 'Once' })
    const inventory = await utility('rf_sys_inventory.py')
    expect(inventory.stdout).toMatch(/Drive: sdb\s+\| ATA 256GB SATA HDD/)
    expect((await utility('rf_sensor_list.py')).stdout).toMatch(/CPU1 Temp\s+\| 46 Cel\s+\| OK/)
    await utility('rf_virtual_media.py', 'insert', '--mediatypes', 'CD', '--image', 'http://127.0.0.1/a.iso')
    expect(machine.firmware.inserted('cdrom')).toBe('http://127.0.0.1/a.iso')
    await utility('rf_power_reset.py', '-t', 'ForceOff')
    await expect.poll(() => machine.power()).toBe('off')
  })

  test('the protocol validator finds one fault, which is the parser of Node', async () => {
    const { url } = await bmcs(1, identity)
    const venv = await dmtfClients()
    const reports = join(folder, 'reports')
    const options = ['--no-cert-check', '--avoid-http-redirect', '--report-dir', reports, '--report-type', 'tsv']
    await run(
      join(venv, 'bin/python'),
      [join(venv, 'bin/rf_protocol_validator'), '-u', ADMIN.username, '-p', ADMIN.password, '-r', url, ...options],
      { env },
    ).catch((error: { code?: number }) => {
      if (error.code !== 1) throw error
    })
    const [report] = (await readdir(reports)).filter((name) => name.endsWith('.tsv'))
    const rows = (await readFile(join(reports, report!), 'utf8')).split('\n').map((line) => line.split('\t'))
    const ended = (result: string) =>
      rows.filter((row) => row[4] === result).map(([name, method]) => `${name} ${method}`)
    expect(ended('PASS').length).toBeGreaterThan(100)
    // Node's parser refuses methods that it has never heard of with 400 before a handler sees them.
    expect(ended('FAIL')).toEqual(['PROTO_HTTP_UNSUPPORTED_METHODS FAKEMETHODFORTEST'])
    expect(ended('WARN')).toEqual([])
  })
})
