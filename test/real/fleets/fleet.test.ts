import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { makeCpio, writeIso } from '../../../base/bytes/index.js'
import { readSystems, type Fleet, type ListedSystem } from '../../../apps/fleet/index.js'
import type { ApiPort, JsonObject } from '../../../base/wire/index.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { readFleet } from '../../../machine/index.js'
import { rehearsalImage } from '../../kit/images/rehearsal-image.js'
import { debianProgram } from '../peers.js'
import { Baremetal } from '../programs/clients/baremetal.js'
import {
  enrolledNode,
  fleetFor,
  fleetIronic,
  FleetNode,
  installed,
  storyOf,
  type FleetIronic,
} from '../fleet-ironic.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** Milliseconds with a cold cache, minutes of which are the installation of peers. */
const INSTALLATION = 900_000
/** A lane may have a fifth of two slow cores. */
const REAL_FLEET_TIMEOUT = 1_200_000

let there: FleetIronic
let fleet: Fleet & { log: string[] }
/** In the place of sushy-tools and fake-ipa: no boot script, and agents that call this Ironic. */
let systems: Fleet & { log: string[] }
const SYSTEMS = readSystems(
  readFileSync(new URL('../../fixtures/systems/nodes.json', import.meta.url), 'utf8'),
  'nodes.json',
)
beforeAll(async () => {
  // Ironic fills the virtual stick by it.
  const [ironic] = await Promise.all([fleetIronic(), debianProgram('mcopy', 'mtools')])
  there = ironic
  await copyFile(REHEARSAL_IMAGE, join(there.folder, 'coreos.raw.xz'))
  await writeFile(join(there.folder, 'disk.raw'), await rehearsalImage())
  await writeFile(join(there.folder, 'bios-1.5.0.bin'), 'firmware')
  await writeFile(join(there.folder, 'prebuilt.iso'), prebuiltIso())
  const disks = Array.from({ length: 2 }, () => ({
    size: '480GB',
    transport: 'sas',
    rotational: false,
  }))
  const dell = { manufacturer: 'Dell Inc.', product: 'PowerEdge R650', disks }
  const hardware = readFleet({ machines: [{ count: 4 }, dell, { count: 2 }] }, 'the machines of this test')
  const account = { username: 'admin', password: 'password' }
  systems = await fleetFor({ count: 0, systems: SYSTEMS, ironicUrl: there.ironic.url, account })
  fleet = await fleetFor({ count: 7, hardware, bootScript: `${there.url}/boot.ipxe` })
}, INSTALLATION)
afterAll(async () => {
  await systems?.[Symbol.asyncDispose]()
  await fleet?.[Symbol.asyncDispose]()
  await there?.[Symbol.asyncDispose]()
})

/** The node of the machine of a number, manageable. */
const node = (number: number, bootInterface: string, fields: Record<string, unknown> = {}): Promise<FleetNode> =>
  enrolledNode(there.ironic, fleet, `machine-${number}`, bootInterface, fields)

const machineOf = ({ name }: FleetNode) => fleet.machines.get(name)!
const noted = (one: FleetNode) =>
  machineOf(one).firmware.log.entries.map(({ kind, detail }) => `${kind} ${detail}`.trim())

async function available(one: FleetNode): Promise<void> {
  await one.provision('provide')
  await one.settled('available')
}

const installCoreos = (one: FleetNode): Promise<void> => installed(one, `${there.url}/coreos.raw.xz`)

/** An ISO with an agent that knows nothing of its Ironic. */
const prebuiltIso = (): Buffer =>
  writeIso(
    {
      vmlinuz: Buffer.from('kernel'),
      initrd: makeCpio([{ path: 'usr/bin/ironic-python-agent', bytes: Buffer.from('an agent') }]),
      'EFI/BOOT/grub.cfg': Buffer.from('linux /vmlinuz boot_method=vmedia --\ninitrd /initrd\n'),
    },
    { label: 'PREBUILT', at: 0 },
  )

describe.concurrent('a real Ironic works the machines of a fleet', () => {
  test(
    'by redfish-virtual-media with an ISO that was built before: the agent finds its Ironic by the stick that Ironic makes',
    async ({ expect }) => {
      const info = { deploy_iso: `${there.url}/prebuilt.iso`, config_via_removable: true }
      const one = await node(7, 'redfish-virtual-media')
      await one.patch(
        ...Object.entries(info).map(([name, value]) => ({ op: 'add', path: `/driver_info/${name}`, value })),
      )
      await one.provision('inspect')
      await one.settled('manageable')
      const { body } = await there.ironic.send('GET', `/v1/nodes/${one.uuid}/inventory`)
      expect(body).toMatchObject({ inventory: { cpu: { count: 8 } } })
      expect(noted(one).join('\n')).toMatch(/media inserted .*disk/)
    },
    REAL_FLEET_TIMEOUT,
  )

  test(
    'by redfish-virtual-media: inspected by the agent, cleaned, installed, rescued, serviced, undeployed, deleted',
    async ({ expect }) => {
      const one = await node(1, 'redfish-virtual-media', { deploy_interface: 'custom-agent' })
      await one.provision('inspect')
      await one.settled('manageable')
      const { body } = await there.ironic.send('GET', `/v1/nodes/${one.uuid}/inventory`)
      expect(body).toMatchObject({ inventory: { cpu: { count: 8 } } })
      await available(one)
      await installCoreos(one)
      expect(noted(one)).toContain('boot iso')
      await expect.poll(() => machineOf(one).boot()?.outcome, { timeout: REAL_PEER_TIMEOUT }).toBe('disk')
      expect(machineOf(one).firstBoot()).toMatchObject({ failure: null, users: [{ name: 'core' }] })

      const boots = noted(one).filter((line) => line === 'boot iso').length
      await one.provision('rescue', { rescue_password: 'a password' })
      await one.settled('rescue')
      // Ironic 39 switches it off when it takes the medium away (redfish boot.py clean_up_ramdisk).
      expect(noted(one).filter((line) => line === 'boot iso').length).toBeGreaterThan(boots)
      await one.provision('unrescue')
      await one.settled('active')
      await expect.poll(() => machineOf(one).boot()?.outcome, { timeout: REAL_PEER_TIMEOUT }).toBe('disk')

      const settings = [{ name: 'ProcTurboMode', value: 'Disabled' }]
      await one.provision('service', {
        service_steps: [{ interface: 'bios', step: 'apply_configuration', args: { settings } }],
      })
      await one.settled('active')
      await one.provision('deleted')
      await one.settled('available')
      await there.ironic.done(204, 'DELETE', `/v1/nodes/${one.uuid}`)
    },
    REAL_FLEET_TIMEOUT,
  )

  test(
    'BIOS and firmware: settings and an update are applied by steps of cleaning',
    async ({ expect }) => {
      const one = await node(4, 'redfish-virtual-media')
      const settings = [{ name: 'ProcTurboMode', value: 'Disabled' }]
      const update = [{ component: 'bios', url: `${there.url}/bios-1.5.0.bin` }]
      await one.provision('clean', {
        clean_steps: [
          { interface: 'bios', step: 'apply_configuration', args: { settings } },
          { interface: 'firmware', step: 'update', args: { settings: update } },
        ],
      })
      await one.settled('manageable')
      const report = machineOf(one).firmware.report()
      expect(report.bios.find(({ name }) => name === 'ProcTurboMode')?.value).toBe('Disabled')
      expect(report.firmware.find(({ component }) => component === 'bios')?.version).toBe('1.5.0')
    },
    REAL_FLEET_TIMEOUT,
  )

  test(
    'by redfish-https: firmware updated, cleaned, and a raw image by direct; an update without its image fails',
    async ({ expect }) => {
      const one = await node(2, 'redfish-https', { deploy_interface: 'direct' })
      const update = (name: string) => ({
        clean_steps: [
          {
            interface: 'firmware',
            step: 'update',
            args: { settings: [{ component: 'bios', url: `${there.url}/${name}` }] },
          },
        ],
      })
      await one.provision('clean', update('bios-1.4.9.bin'))
      expect((await one.settled('clean failed')).last_error).toContain('the server answered 404')
      await there.ironic.done(202, 'DELETE', `/v1/nodes/${one.uuid}/maintenance`)
      await one.provision('manage')
      await one.settled('manageable')
      await one.provision('clean', update('bios-1.5.0.bin'))
      await one.settled('manageable')
      await available(one)
      const raw = await readFile(join(there.folder, 'disk.raw'))
      const instance: JsonObject = {
        image_source: `${there.url}/disk.raw`,
        image_os_hash_algo: 'sha256',
        image_os_hash_value: createHash('sha256').update(raw).digest('hex'),
        image_disk_format: 'raw',
      }
      await one.patch({ op: 'add', path: '/instance_info', value: instance })
      await one.provision('active')
      await one.settled('active')
      expect(noted(one).some((line) => line === 'boot iso')).toBe(true)
      await expect.poll(() => machineOf(one).boot()?.outcome, { timeout: REAL_PEER_TIMEOUT }).toBe('disk')
    },
    REAL_FLEET_TIMEOUT,
  )

  test(
    'of Dell by the hardware type idrac: inspected out of band, its RAID made and deleted, cleaned, installed',
    async ({ expect }) => {
      const one = await node(5, 'redfish-virtual-media', {
        driver: 'idrac',
        boot_interface: 'idrac-redfish-virtual-media',
        management_interface: 'idrac-redfish',
        inspect_interface: 'idrac-redfish',
        raid_interface: 'idrac-redfish',
        deploy_interface: 'custom-agent',
        bios_interface: 'idrac-redfish',
        power_interface: 'idrac-redfish',
        vendor_interface: 'idrac-redfish',
      })
      await one.provision('inspect')
      const inspected = await one.settled('manageable')
      expect(inspected.properties).toMatchObject({ vendor: 'Dell Inc.', memory_mb: 32 * 1024 })
      const { body } = await there.ironic.send('GET', `/v1/nodes/${one.uuid}/inventory`)
      expect(body).toMatchObject({ inventory: { system_vendor: { serial_number: machineOf(one).spec.serial } } })
      const { body: ports } = await there.ironic.send('GET', `/v1/ports/detail?node=${one.uuid}`)
      const [booting, other] = machineOf(one).spec.nics
      expect(
        new Map((ports as { ports: ApiPort[] }).ports.map(({ address, pxe_enabled }) => [address, pxe_enabled])),
      ).toEqual(
        new Map([
          [booting!.mac, true],
          [other!.mac, false],
        ]),
      )

      const logical_disks = [{ size_gb: 10, raid_level: '1', is_root_volume: true }]
      await there.ironic.done(204, 'PUT', `/v1/nodes/${one.uuid}/states/raid`, { logical_disks })
      await one.provision('clean', {
        clean_steps: [
          { interface: 'management', step: 'clear_job_queue' },
          { interface: 'raid', step: 'delete_configuration' },
          { interface: 'raid', step: 'create_configuration' },
        ],
      })
      await one.settled('manageable')
      expect(machineOf(one).firmware.volumes).toMatchObject([{ raid_level: '1' }])
      await available(one)
      await installCoreos(one)
      expect(noted(one)).toContain('boot iso')
      await expect.poll(() => machineOf(one).boot()?.outcome, { timeout: REAL_PEER_TIMEOUT }).toBe('disk')
    },
    REAL_FLEET_TIMEOUT,
  )

  test(
    'by ipxe: inspected out of band, cleaned and installed by what is left on its HTTP server',
    async ({ expect }) => {
      const one = await node(3, 'ipxe', { deploy_interface: 'custom-agent', inspect_interface: 'redfish' })
      await one.provision('inspect')
      const inspected = await one.settled('manageable')
      expect(inspected.properties).toMatchObject({ cpu_arch: 'x86_64', memory_mb: 32 * 1024 })
      await available(one)
      await installCoreos(one)
      expect(noted(one)).toContain('boot pxe')
      await expect.poll(() => machineOf(one).boot()?.outcome, { timeout: REAL_PEER_TIMEOUT }).toBe('disk')
    },
    REAL_FLEET_TIMEOUT,
  )

  test(
    "of sushy-tools' list: created as Metal3's scripts do it, inspected, cleaned and installed without media of this Ironic",
    async ({ expect }) => {
      const [{ id: uuid, name, nics }] = SYSTEMS as [ListedSystem]
      const machine = systems.machines.get(uuid)!
      // create_nodes.py: the system's uuid is the node's too, and Ironic learns of its NICs from the BMC.
      const info = {
        redfish_address: systems.redfishUrl,
        redfish_system_id: `/redfish/v1/Systems/${uuid}`,
        redfish_username: 'admin',
        redfish_password: 'password',
      }
      const settings = Object.entries(info).flatMap(([key, value]) => ['--driver-info', `${key}=${value}`])
      {
        await using baremetal = await Baremetal.open({ OS_AUTH_TYPE: 'none', OS_ENDPOINT: there.ironic.url })
        await baremetal.ok('node create --driver redfish', ...settings, '--uuid', uuid, '--name', name)
      }
      // create-bmhs.py: BareMetal Operator has it boot by iPXE in BIOS mode, and makes a port of a random address.
      const one = new FleetNode(there.ironic, uuid, name, () => storyOf(systems, uuid))
      await one.patch(
        { op: 'replace', path: '/boot_interface', value: 'ipxe' },
        { op: 'replace', path: '/deploy_interface', value: 'custom-agent' },
        { op: 'add', path: '/properties/capabilities', value: 'boot_mode:bios' },
      )
      await there.ironic.done(201, 'POST', '/v1/ports', { address: '0a:00:00:00:00:99', node_uuid: uuid })
      await one.provision('manage')
      await one.settled('manageable')
      await one.provision('inspect')
      await one.settled('manageable')
      const { body } = await there.ironic.send('GET', `/v1/nodes/${uuid}/inventory`)
      expect(body).toMatchObject({ inventory: { interfaces: [{ mac_address: nics[0]!.mac }] } })
      await available(one)
      await installCoreos(one)
      await expect.poll(() => machine.boot()?.outcome, { timeout: REAL_PEER_TIMEOUT }).toBe('disk')
      expect(machine.firmware.bootMode).toBe('bios')
      expect(machine.firmware.log.entries.map(({ kind }) => kind)).not.toContain('media inserted')
    },
    REAL_FLEET_TIMEOUT,
  )
})
