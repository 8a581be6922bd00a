import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openFileSource } from '../../base/bytes/index.js'
import { editLiveKargs, openLiveIso } from '../../coreos/index.js'
import { installCoreos, type StagedLab, type StagedNode } from '../../lab/index.js'
import { defaultMachineSpec, withHardware } from '../../machine/index.js'
import { defined, systemClock } from '../../base/runtime/index.js'
import { isExchange, type Inventory, type JsonObject } from '../../base/wire/index.js'
import { machineOf } from '../kit/deployed.js'
import { versionedIso } from '../kit/images/versioned-images.js'
import { coreosNode, liveServers } from '../kit/live-lab.js'

let servers: Awaited<ReturnType<typeof liveServers>>
beforeAll(async () => {
  servers = await liveServers()
})
afterAll(() => servers[Symbol.asyncDispose]())

const WAYS = [
  ['boot by ISO', { boot_interface: 'redfish-virtual-media' }, 'iso', /^BIOS: booting virtual media http/],
  ['boot by PXE', { boot_interface: 'ipxe' }, 'pxe', /^iPXE: kernel http/],
] as const

const ACTIVE = { provision_state: 'active', last_error: null, maintenance: false }

describe.each(WAYS)('a live system, %s', (_, medium, kind, loaded) => {
  test('inspects, cleans and installs CoreOS and other images in one run, each through the agent of the served live system', async () => {
    await using lab = await servers.lab()
    const nodes = await Promise.all([
      coreosNode(lab, { ...medium, name: 'coreos-1' }),
      lab.enroll({ fields: { ...medium, deploy_interface: 'direct', instance_info: servers.instance('/disk.qcow2') } }),
      lab.enroll({ fields: { ...medium, deploy_interface: 'direct', instance_info: servers.instance('/disk.raw') } }),
    ])
    for (const node of nodes) {
      await node.makeAvailable()
      const { inspection_finished_at: inspected } = await node.get()
      expect(inspected).not.toBeNull()
      const machine = await machineOf(node)
      const [first] = machine.console()
      expect(first).toMatch(loaded)
    }
    for (const node of nodes) await node.deploy()
    for (const node of nodes) {
      expect(await node.settled()).toMatchObject(ACTIVE)
      const machine = await machineOf(node)
      // Ironic does not wait for what it has switched on.
      while (!machine.boot()) await delay(10)
      expect(machine.boot()).toMatchObject({ outcome: 'disk' })
    }
  }, 120_000)

  test('the agent is the one of the config, and goes where the config says', async () => {
    await using lab = await servers.lab()
    const calls: string[] = []
    lab.probe.attach((point, next) => {
      if (isExchange(point) && point.from === 'agent') calls.push(point.url)
      return next()
    })
    const node = await coreosNode(lab, { ...medium, name: 'worker-7', automated_clean: false })
    await node.provision('manage')
    await node.settled()
    await node.provision('inspect')
    await node.until(({ provision_state: state }) => state === 'inspect wait')
    expect(await node.settled()).toMatchObject({ provision_state: 'manageable' })
    const machine = await machineOf(node)
    expect(machine.boot()).toBeUndefined()
    expect(machine.console()).toContain('ironic-agent.service: Trying to pull quay.io/metal3-io/ironic-agent:latest...')
    expect(calls[0]).toBe(`${lab.url}/v1/continue_inspection`)
    await node.provision('provide')
    await node.settled()
    await node.provision('active', { deploy_steps: [installCoreos()] })
    await node.until(({ deploy_step: step }) => (step as JsonObject).step === 'install_coreos')
    const boot = machine.boot()!
    expect(boot).toMatchObject({
      source: { kind },
      outcome: 'ramdisk',
      live: {
        ignition: { from: 'initramfs', version: '3.2.0' },
        agent: { unit: 'ironic-agent.service', image: 'quay.io/metal3-io/ironic-agent', environment: {} },
        failure: null,
      },
    })
    expect(boot.live?.agent?.options).toMatchObject({ api_url: lab.url })
    expect(boot.live?.agent?.environment).toMatchObject({ IPA_DEFAULT_HOSTNAME: 'worker-7' })
    const read = async (path: string) => Buffer.from(await machine.executor.files.read(path)).toString()
    expect(await read('/proc/cmdline')).toContain('ignition.platform.id=metal')
    expect(await read('/etc/ironic-python-agent.conf')).toContain(`api_url = ${lab.url}`)
  })
})

test('a machine without a name from DHCP is called as its host, and the USB NIC of its BMC stays out of the inventory', async () => {
  await using lab = await servers.lab()
  const mac = '02:00:00:00:00:01'
  const machine = withHardware(lab.spec(1), { hostname: null, nics: [{}, { driver: 'cdc_ether', name: 'usb0', mac }] })
  const fields = { boot_interface: 'redfish-virtual-media', name: 'worker-7', automated_clean: false }
  const node = await lab.enroll({ fields, machine })
  await node.makeAvailable()
  const { inventory } = (await lab.client.inventory(node.uuid)) as unknown as { inventory: Inventory }
  expect(inventory.hostname).toBe('worker-7')
  expect(inventory.interfaces.map(({ name, driver }) => `${name} ${driver}`)).toEqual(['eno1 virtio_net'])
  expect((await machineOf(node)).spec.nics.map(({ mac: own }) => own)).toContain(mac)
})

test('a live ISO with other kernel arguments boots with them, and has its version from its volume', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-kargs-'))
  try {
    const iso = join(folder, 'live.iso')
    await writeFile(iso, versionedIso('38.20230718.3.0'))
    await using file = await openFileSource(iso, systemClock(), true)
    const { kargs } = await openLiveIso(file, systemClock())
    await file.replace(kargs!.write(editLiveKargs(kargs!.current, { append: ['console=ttyS1,115200n8', 'quiet'] })))
    await using lab = await servers.lab({ liveImages: { files: [{ architecture: 'x86_64', iso }], byDefault: true } })
    const spec = defaultMachineSpec({ id: 'machine-7', supportedSince: '39.20240101.3.0' })
    const [node, newer] = await Promise.all([
      coreosNode(lab, { boot_interface: 'redfish-virtual-media', name: 'changed', automated_clean: false }),
      lab.enroll({ fields: { boot_interface: 'redfish-virtual-media', name: 'newer' }, machine: spec }),
    ])
    await node.makeAvailable()
    await node.provision('active', { deploy_steps: [installCoreos()] })
    await node.until(({ deploy_step: step }) => (step as JsonObject).step === 'install_coreos')
    const machine = await machineOf(node)
    const arguments_ = machine.boot()!.live!.kernelArguments
    expect(arguments_).toMatch(/ console=ttyS1,115200n8 quiet$/)
    expect(machine.console()).toContainEqual(
      expect.stringMatching(/^kernel: Command line: .* console=ttyS1,115200n8 quiet$/),
    )
    expect(Buffer.from(await machine.executor.files.read('/proc/cmdline')).toString()).toContain(
      ' console=ttyS1,115200n8 quiet',
    )
    const other = await inspected(newer)
    expect(other.console).toContainEqual(
      'no driver for the network controllers in 38.20230718.3.0: they are supported since 39.20240101.3.0',
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

/** Asks for an inspection; gives the node as it came to rest, and what its machine tells. */
async function inspected(node: StagedNode) {
  await node.provision('manage')
  await node.settled()
  await node.provision('inspect')
  await node.until(({ provision_state: state }) => state === 'inspect wait')
  const rest = await node.settled()
  const machine = await machineOf(node)
  return { rest, console: machine.console(), boot: machine.lastBoot() }
}

const TIMED_OUT = {
  provision_state: 'inspect failed',
  last_error: expect.stringContaining('Timeout reached while inspecting the node') as string,
}

describe('a wrong live image fails as on real hardware: no agent calls, and the machine says why', () => {
  const media = (driver_info: JsonObject): JsonObject => ({ boot_interface: 'redfish-virtual-media', driver_info })
  const network = (driver_info: JsonObject): JsonObject => ({ boot_interface: 'ipxe', driver_info })
  type Images = NonNullable<ReturnType<NonNullable<StagedLab['images']>['urls']>>

  const pxe = ({ pxe: served }: Images, more: JsonObject): JsonObject =>
    network({
      deploy_kernel: served!.kernel,
      deploy_ramdisk: served!.ramdisk,
      kernel_append_params: served!.append,
      ...more,
    })

  test.each<[string, (images: Images) => JsonObject, string, RegExp]>([
    [
      'an ISO that is not there',
      ({ iso }) => media({ deploy_iso: `${iso}.missing` }),
      'no bootable device',
      /virtual medium at http.*\.missing could not be fetched: the server answered 404/,
    ],
    [
      'a server that is not there',
      () => media({ deploy_iso: 'http://127.0.0.1:1/live.iso' }),
      'no bootable device',
      /could not be fetched: connection refused/,
    ],
    [
      'an ISO that is none',
      ({ pxe: served }) => media({ deploy_iso: served!.rootfs }),
      'no bootable device',
      /is not a live ISO that boots/,
    ],
    [
      'a kernel that is not there',
      (images) => pxe(images, { deploy_kernel: `${images.pxe!.kernel}.missing` }),
      'no bootable device',
      /the kernel at http.* could not be fetched: the server answered 404/,
    ],
    [
      'an initramfs that is none',
      (images) => pxe(images, { deploy_ramdisk: images.pxe!.rootfs }),
      'kernel panic',
      /the kernel cannot unpack http/,
    ],
    [
      'a root filesystem that is not there',
      (images) => pxe(images, { kernel_append_params: images.pxe!.append.replace('.rootfs ', '.rotfs ') }),
      'emergency shell',
      /the root filesystem at http.* could not be fetched: the server answered 404/,
    ],
    [
      'no root filesystem at all',
      (images) =>
        pxe(images, { kernel_append_params: images.pxe!.append.replace(/coreos\.live\.rootfs_url=\S+ /, '') }),
      'emergency shell',
      /no kernel argument coreos\.live\.rootfs_url says where it is/,
    ],
    [
      'an Ignition config that is not there',
      (images) => pxe(images, { kernel_append_params: images.pxe!.append.replace('.ign ', '.gone ') }),
      'emergency shell',
      /Ignition failed: resource not found: fetching http.* failed: the server answered 404/,
    ],
    [
      'an Ignition config that is none',
      (images) =>
        pxe(images, { kernel_append_params: images.pxe!.append.replace(images.pxe!.ignition, images.pxe!.kernel) }),
      'emergency shell',
      /Ignition failed: /,
    ],
    [
      'kernel arguments that do not make Ignition run',
      (images) => pxe(images, { kernel_append_params: images.pxe!.append.replace('ignition.firstboot', '') }),
      'live',
      /no Ignition config was applied, so the live system starts no agent/,
    ],
  ])('after a boot with %s', async (_, fields, outcome, failure) => {
    await using lab = await servers.lab({ byDefault: false })
    const instanceFields = fields(lab.images!.urls()!)
    const enrolled = await lab.enroll({ fields: withAddress(lab, instanceFields) })
    const { rest, console, boot } = await inspected(enrolled)
    expect(rest).toMatchObject(TIMED_OUT)
    expect(boot).toMatchObject({ outcome, live: { failure: expect.stringMatching(failure) as string } })
    expect(console.at(-1)).toMatch(failure)
  })

  test('a container that cannot be pulled', async () => {
    await using lab = await servers.lab()
    const node = await lab.enroll({ fields: { boot_interface: 'redfish-virtual-media' } })
    lab.faults.add({ match: { node: node.uuid }, effect: { kind: 'pull-error', reason: 'manifest unknown' } })
    const { rest, console, boot } = await inspected(node)
    expect(rest).toMatchObject(TIMED_OUT)
    expect(boot).toMatchObject({ outcome: 'ramdisk' })
    expect(console).toContain(
      'ironic-agent.service: Error: initializing source docker://quay.io/metal3-io/ironic-agent:latest: manifest unknown',
    )
  })

  test('one that can be pulled again calls late', async () => {
    await using lab = await servers.lab()
    const node = await lab.enroll({ fields: { boot_interface: 'redfish-virtual-media' } })
    lab.faults.add({ match: { image: 'quay.io/metal3-io' }, effect: { kind: 'pull-error' }, times: 3 })
    const { rest, console } = await inspected(node)
    expect(rest).toMatchObject({ provision_state: 'manageable', last_error: null })
    expect(console.filter((line) => line.includes('Trying to pull'))).toHaveLength(4)
  })

  test('an Ironic that is missing', async () => {
    const agent = { ironicUrls: ['http://127.0.0.1:1'] }
    const files = [{ architecture: 'x86_64', iso: servers.iso }]
    await using lab = await servers.lab({ liveImages: { files, byDefault: true, agent } })
    const node = await lab.enroll({ fields: { boot_interface: 'redfish-virtual-media' } })
    const { rest, boot } = await inspected(node)
    expect(rest).toMatchObject(TIMED_OUT)
    expect(boot?.live?.agent?.options).toMatchObject({ api_url: 'http://127.0.0.1:1' })
  })
})

/** A node's driver_info names its BMC too. */
function withAddress(lab: StagedLab, fields: JsonObject): JsonObject {
  const { bmc } = lab.spec(1)
  const address = {
    redfish_address: `http://${bmc!.address}`,
    redfish_system_id: `/redfish/v1/Systems/${bmc!.systemId}`,
  }
  return { ...fields, driver_info: { ...address, ...(fields.driver_info as JsonObject) } }
}

describe('one way next to the other', () => {
  test('the design document has the Ignition config at a URL, in the kernel arguments of all nodes', async () => {
    await using lab = await servers.lab({ byDefault: false })
    const { kernel, ramdisk, append } = lab.images!.urls()!.pxe!
    const driver_info = { deploy_kernel: kernel, deploy_ramdisk: ramdisk, kernel_append_params: `%default% ${append}` }
    const node = await coreosNode(lab, withAddress(lab, { boot_interface: 'ipxe', driver_info }))
    await node.deploy()
    expect(await node.settled()).toMatchObject(ACTIVE)
    const machine = await machineOf(node)
    await node.provision('deleted')
    await node.until(({ provision_state: state }) => state === 'clean wait')
    await node.until(({ clean_step: step }) => Object.keys(step).length > 0)
    expect(machine.boot()?.live).toMatchObject({
      kernelArguments: expect.stringContaining('nofb vga=normal coreos.live.rootfs_url=') as string,
      ignition: { from: lab.images!.urls()!.pxe!.ignition },
    })
    await node.settled()
  })

  test('kernel and ramdisk of old work for one node, and it can switch to CoreOS and back', async () => {
    await using lab = await servers.lab()
    const { kernel, ramdisk } = lab.images!.oldRamdisk
    const old = { deploy_kernel: kernel, deploy_ramdisk: ramdisk }
    const node = await coreosNode(lab, withAddress(lab, { boot_interface: 'ipxe', driver_info: old }))
    const other = await coreosNode(lab, { boot_interface: 'redfish-virtual-media' })
    const machine = async () => (await machineOf(node)).console()
    await node.makeAvailable()
    await other.makeAvailable()
    expect(await machine()).toContain('the ramdisk is not CoreOS: starting the agent that it contains')
    expect((await machineOf(other)).console().join()).toContain('ironic-agent.service: started')

    const change = (op: 'add' | 'remove') =>
      lab.client.patchNode(
        node.uuid,
        Object.entries(old).map(([name, value]) => ({
          op,
          path: `/driver_info/${name}`,
          ...defined({ value: op === 'add' ? value : undefined }),
        })),
      )
    await change('remove')
    await node.deploy()
    expect(await node.settled()).toMatchObject(ACTIVE)
    await node.provision('deleted')
    expect(await node.settled()).toMatchObject({ provision_state: 'available' })
    expect((await machine()).join()).toContain('ironic-agent.service: started')
    await change('add')
    await node.deploy()
    expect(await node.settled()).toMatchObject(ACTIVE)
    await node.provision('deleted')
    await node.settled()
    expect(await machine()).toContain('the ramdisk is not CoreOS: starting the agent that it contains')
  })

  test('nodes boot the ramdisk of the lab by default, whatever their images are', async () => {
    await using lab = await servers.lab({ liveImages: undefined } as never)
    const node = await coreosNode(
      lab,
      withAddress(lab, { driver_info: { deploy_kernel: 'http://h/k', deploy_ramdisk: 'http://h/r' } }),
    )
    await node.deploy()
    expect(await node.settled()).toMatchObject(ACTIVE)
    expect((await machineOf(node)).console()).toEqual([])
  })
})
