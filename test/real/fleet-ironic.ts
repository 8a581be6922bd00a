import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileRepresentation, serveFiles } from '../../base/bytes/index.js'
import { enrollHosts, openFleet, type Fleet, type FleetOptions } from '../../apps/fleet/index.js'
import { NO_PACE } from '../../machine/index.js'
import { LabClock, silent, systemClock, systemRandom, type Logger } from '../../base/runtime/index.js'
import { HttpTransport, type ApiNode, type ProvisionState } from '../../base/wire/index.js'
import { realIronic, type RealIronic } from './ironic.js'
import { debianProgram, succeeds, tool } from './peers.js'

/** A real Ironic with hardware type redfish, the folder that it publishes in, and what it boots machines with. */
export interface FleetIronic extends AsyncDisposable {
  readonly ironic: RealIronic
  /** Files that are served at {@link url}. */
  readonly folder: string
  readonly url: string
}

/**
 * Python that runs before Ironic. For the key of its cached sessions Ironic hashes the password anew, with 600,000 rounds,
 * each time that it finds a system (ironic 39.0.0 drivers/modules/redfish/utils.py SessionCache): most of the processor time
 * of a node. Fewer rounds make another key, and nothing else.
 */
const CHEAP_SESSION_KEYS = `import hashlib
real = hashlib.pbkdf2_hmac
def cheap(name, password, salt, iterations, dklen=None):
    return real(name, password, salt, min(iterations, 1000), dklen)
hashlib.pbkdf2_hmac = cheap
`

/** Starts a real Ironic that builds ISOs, and a server of its files with ranges, as its own Apache is. */
export async function fleetIronic(settings: Parameters<typeof realIronic>[0] = {}): Promise<FleetIronic> {
  // Both are called by Ironic: mkisofs for the ISO, and qemu-img's stand-in is not needed for raw images.
  await debianProgram('xorrisofs', 'xorriso')
  const [folder, programs] = await Promise.all(
    ['ironstage-published-', 'ironstage-programs-'].map((prefix) => mkdtemp(join(tmpdir(), prefix))),
  )
  // xorriso behaves as mkisofs when it is called so.
  await symlink((await succeeds('sh', '-c', 'command -v xorrisofs')).trim(), join(programs!, 'mkisofs'))
  await writeFile(join(programs!, 'sitecustomize.py'), CHEAP_SESSION_KEYS)
  const clock = new LabClock({ mode: 1 })
  const server = await serveFiles({
    host: '127.0.0.1',
    port: 0,
    clock,
    random: systemRandom,
    logger: silent,
    find: async (path) => {
      const file = join(folder!, decodeURIComponent(path))
      const found = await stat(file).catch(() => undefined)
      return found?.isFile() ? fileRepresentation(file, clock) : undefined
    },
  })
  for (const name of ['kernel', 'ramdisk', 'bootloader'])
    await writeFile(join(folder!, name), `the ${name} of a test\n`)
  const driver = { deploy_kernel: `${server.url}/kernel`, deploy_ramdisk: `${server.url}/ramdisk` }
  const rescue = { rescue_kernel: `${server.url}/kernel`, rescue_ramdisk: `${server.url}/ramdisk` }
  const merged: Record<string, Record<string, string | number>> = {
    ...settings,
    DEFAULT: {
      enabled_hardware_types: 'redfish,idrac',
      enabled_power_interfaces: 'redfish,idrac-redfish',
      enabled_boot_interfaces: 'redfish-virtual-media,redfish-https,ipxe,idrac-redfish-virtual-media',
      enabled_management_interfaces: 'redfish,idrac-redfish',
      enabled_bios_interfaces: 'redfish,idrac-redfish,no-bios',
      enabled_firmware_interfaces: 'redfish,no-firmware',
      enabled_inspect_interfaces: 'agent,redfish,idrac-redfish,no-inspect',
      enabled_raid_interfaces: 'agent,redfish,idrac-redfish,no-raid',
      enabled_vendor_interfaces: 'redfish,idrac-redfish,no-vendor',
      enabled_rescue_interfaces: 'agent,no-rescue',
      enabled_deploy_interfaces: 'custom-agent,direct',
      enabled_console_interfaces: 'no-console',
      default_bios_interface: 'redfish',
      default_firmware_interface: 'redfish',
      default_rescue_interface: 'agent',
      ...settings['DEFAULT'],
    },
    conductor: {
      heartbeat_interval: 10,
      heartbeat_timeout: 60,
      sync_power_state_interval: 0,
      enable_mdns: 'false',
      check_provision_state_interval: 5,
      graceful_shutdown_timeout: 2,
      automated_clean: 'true',
      ...driver,
      ...rescue,
      bootloader: `${server.url}/bootloader`,
      ...settings['conductor'],
    },
    // Agents call after 0.3 to 0.6 of this; the address of the API is that of any test.
    api: { ramdisk_heartbeat_timeout: 6, ...settings['api'] },
    deploy: {
      http_root: folder!,
      http_url: server.url,
      fast_track: 'false',
      default_boot_option: 'local',
      erase_devices_priority: 0,
      erase_devices_metadata_priority: 10,
      ...settings['deploy'],
    },
    // Out-of-band inspection finds no NIC that boots, and would leave no port for network boot.
    inspector: { require_managed_boot: 'false', power_off: 'true', update_pxe_enabled: 'false' },
    redfish: {
      use_swift: 'false',
      firmware_update_status_interval: 1,
      raid_config_status_interval: 1,
      // Minutes by default, in which real BMCs come to rest.
      firmware_update_resource_validation_timeout: 0,
      firmware_update_reboot_delay: 5,
      firmware_update_validation_interval: 1,
      firmware_update_bmc_version_check_interval: 1,
      ...settings['redfish'],
    },
  }
  const ironic = await realIronic(merged, {
    PATH: `${programs!}:${process.env['PATH'] ?? ''}`,
    PYTHONPATH: programs!,
  })
  return {
    ironic,
    folder: folder!,
    url: server.url,
    async [Symbol.asyncDispose]() {
      await ironic[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      for (const path of [folder!, programs!]) await rm(path, { recursive: true, force: true })
    },
  }
}

/** A fleet in this process, for an Ironic on this host. */
export async function fleetFor(options: Partial<FleetOptions> & { count: number }): Promise<Fleet & { log: string[] }> {
  const log: string[] = []
  const logger: Logger = (level, message) =>
    void (level === 'debug' || level === 'info' || log.push(`${level}: ${message}`))
  const fleet = await openFleet({
    redfish: { port: 0 },
    clock: new LabClock({ mode: 1 }),
    random: systemRandom,
    logger,
    account: { username: 'admin', password: 'of the fleet' },
    // Long enough for Ironic to begin waiting before the agent calls, as any real ramdisk takes.
    machinePace: { ...NO_PACE, bootRamdisk: 4000 },
    ...options,
  })
  return Object.assign(Object.create(fleet) as Fleet, { ...fleet, log })
}

type NodeState = Pick<ApiNode, 'uuid' | 'provision_state' | 'target_power_state' | 'reservation' | 'last_error'>

const looks = new WeakMap<RealIronic, Promise<{ nodes: NodeState[] }>>()

/**
 * Reads the states of all nodes in a second from now. All that wait share the look: one of each node took Ironic half a
 * processor.
 */
function nextLook(ironic: RealIronic): Promise<{ nodes: NodeState[] }> {
  const pending = looks.get(ironic)
  if (pending) return pending
  const look = sleep(1000).then(async () => {
    // A caller that comes now has perhaps changed a node while this request was on its way.
    looks.delete(ironic)
    const path = '/v1/nodes?fields=uuid,provision_state,target_power_state,reservation,last_error'
    return (await ironic.done(200, 'GET', path)) as { nodes: NodeState[] }
  })
  looks.set(ironic, look)
  return look
}

const atRest = (node: NodeState): boolean => node.reservation === null && node.target_power_state === null

/** A node of a fleet's machine in a real Ironic. */
export class FleetNode {
  constructor(
    readonly ironic: RealIronic,
    readonly uuid: string,
    readonly name: string,
    private readonly story: () => string,
  ) {}

  get = async (): Promise<ApiNode> => (await this.ironic.done(200, 'GET', `/v1/nodes/${this.uuid}`)) as ApiNode

  async provision(target: string, fields: Record<string, unknown> = {}): Promise<void> {
    await this.ironic.done(202, 'PUT', `/v1/nodes/${this.uuid}/states/provision`, { target, ...fields })
  }

  patch = (...changes: { op: string; path: string; value?: unknown }[]): Promise<unknown> =>
    this.ironic.done(200, 'PATCH', `/v1/nodes/${this.uuid}`, changes)

  /** Waits until it rests in a state: minutes, where many programs share two slow processors. */
  async settled(state: ProvisionState, within = 900_000): Promise<ApiNode> {
    const deadline = Date.now() + within
    for (;;) {
      const node = (await nextLook(this.ironic)).nodes.find(({ uuid }) => uuid === this.uuid)
      if (!node) throw new Error(`${this.name} is no node of this Ironic any more`)
      if (atRest(node) && node.provision_state === state) return this.get()
      const isOver = atRest(node) && /failed$|^error$/.test(node.provision_state) && !state.includes('failed')
      if (isOver || Date.now() > deadline)
        throw new Error(
          `${this.name} was to become ${state}, and is ${node.provision_state}, locked by ${node.reservation}: ` +
            `${node.last_error}\n${this.story()}\n${await this.ironic.loggedOf(this.uuid)}`,
        )
    }
  }
}

/** Enrolls a machine of a fleet, and makes its node manageable. */
export async function enrolledNode(
  ironic: RealIronic,
  fleet: Fleet & { log: string[] },
  name: string,
  bootInterface: string,
  fields: Record<string, unknown> = {},
): Promise<FleetNode> {
  const clock = systemClock()
  await using transport = new HttpTransport({ clock })
  let uuid = ''
  await enrollHosts(
    fleet.hosts().filter((host) => host.name === name),
    {
      url: ironic.url,
      transport,
      headers: {},
      clock,
      bootInterface,
      driverInfo: {},
      signal: new AbortController().signal,
      onEnrolled: (_host, made) => (uuid = made),
    },
  )
  const enrolled = new FleetNode(ironic, uuid, name, () => storyOf(fleet, name))
  const { driver, ...others } = fields
  if (driver !== undefined)
    await ironic.done(200, 'PATCH', `/v1/nodes/${uuid}?reset_interfaces=True`, [
      { op: 'replace', path: '/driver', value: driver },
    ])
  const changes = Object.entries(others).map(([field, value]) => ({ op: 'add', path: `/${field}`, value }))
  if (changes.length > 0) await enrolled.patch(...changes)
  await enrolled.provision('manage')
  await enrolled.settled('manageable')
  return enrolled
}

const IGNITION = { ignition: { version: '3.4.0' }, passwd: { users: [{ name: 'core' }] } }

/** Deploys by custom-agent with install_coreos, as BareMetal Operator does. */
export async function installed(node: FleetNode, imageUrl: string): Promise<void> {
  const args = { image_url: imageUrl, append_karg: ['quiet'], ignition: IGNITION }
  await node.provision('active', {
    deploy_steps: [{ interface: 'deploy', step: 'install_coreos', priority: 80, args }],
  })
  await node.settled('active')
}

/** For the message of a failure: the end of a machine's console, of the BMC's log and of the fleet's log. */
export function storyOf(fleet: Fleet & { log: string[] }, machine: string): string {
  const found = fleet.machines.get(machine)
  const bmc = found?.firmware.log.entries.slice(-12).map(({ kind, detail }) => `${kind}  ${detail}`) ?? []
  return [...(found?.console().slice(-15) ?? []), ...bmc, ...fleet.log.slice(-10)].join('\n')
}

export { tool }
