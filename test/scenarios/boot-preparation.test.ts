import { describe, expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { createStagedLab, installCoreos, type StagedLab, type StagedNode } from '../../lab/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { ignition, machineOf } from '../kit/deployed.js'

/**
 * Every flow that boots something prepares the machine, and undoes it: boot mode, secure boot, media in the drives
 * (ironic 39.0.0 drivers/modules/redfish/boot.py, boot_mode_utils.py).
 */

const ISO = 'http://images.example/live.iso'
const USERS_CD = 'http://images.example/users.iso'
const MEDIA = { boot_interface: 'redfish-virtual-media' }

const call = (lab: StagedLab, method: string, path: string, body?: object) =>
  lab.transport.send({
    method,
    url: `${lab.url}${path}`,
    headers: { 'content-type': 'application/json', 'x-openstack-ironic-api-version': 'latest' },
    ...defined({ body: body ? JSON.stringify(body) : undefined }),
  })

async function done(node: StagedNode, verb: string, more: JsonObject = {}): Promise<string> {
  await node.provision(verb as 'manage', more)
  return (await node.settled()).provision_state
}

/** Image in the CD drive, as Ironic's API shows it. */
async function drive(lab: StagedLab, { uuid }: StagedNode): Promise<string | null> {
  const { body } = await call(lab, 'GET', `/v1/nodes/${uuid}/vmedia`)
  return (JSON.parse(body!) as { image: string | null }[])[0]!.image
}

async function attach(lab: StagedLab, node: StagedNode): Promise<void> {
  const body = { device_type: 'cdrom', image_url: USERS_CD }
  expect((await call(lab, 'POST', `/v1/nodes/${node.uuid}/vmedia`, body)).status).toBe(204)
  await node.until(({ reservation }) => reservation === null)
  expect(await drive(lab, node)).toBe(USERS_CD)
}

const CLEAN: JsonObject = { clean_steps: [{ interface: 'deploy', step: 'erase_devices_metadata' }] }
const SERVICE: JsonObject = {
  service_steps: [{ interface: 'deploy', step: 'inject_files', args: { files: [] } }],
}
const INSTALL: JsonObject = { deploy_steps: [installCoreos({ ignition })] as unknown as JsonObject[] }

describe('boot mode', () => {
  test.each([
    ['over the network', {}],
    ['from virtual media', MEDIA],
  ])('of the node reaches the machine with the first ramdisk, %s', async (_, fields) => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ fields: { ...fields, properties: { capabilities: 'boot_mode:bios' } } })
    await done(node, 'manage')
    expect(await node.get()).toMatchObject({ boot_mode: 'uefi' })
    expect(await done(node, 'inspect')).toBe('manageable')
    expect((await machineOf(node)).firmware.bootMode).toBe('bios')
    expect(await node.get()).toMatchObject({ boot_mode: 'bios', secure_boot: false })
  })

  test('of an instance holds for its deployment; without one the machine’s is remembered until it goes', async () => {
    await using lab = await createStagedLab()
    const fields = { properties: {}, instance_info: { capabilities: { boot_mode: 'bios' } } }
    const node = await lab.enroll({ fields })
    await done(node, 'manage')
    expect(await done(node, 'provide')).toBe('available')
    expect(await done(node, 'active', INSTALL)).toBe('active')
    expect((await machineOf(node)).firmware.bootMode).toBe('bios')

    const other = await lab.enroll({ fields: { properties: {} } })
    await done(other, 'manage')
    await done(other, 'provide')
    expect((await other.get()).driver_internal_info).toMatchObject({ deploy_boot_mode: 'uefi' })
    await done(other, 'active', INSTALL)
    expect(await done(other, 'deleted')).toBe('available')
  })

  const LOCKED = { properties: { capabilities: 'boot_mode:uefi' }, automated_clean: false }
  const CONTRADICTION = 'boot mode bios violates node properties/capabilities uefi'
  const IPMI = { driver: 'ipmi', boot_interface: 'ipxe', driver_info: { ipmi_address: '192.0.2.9' } }

  test.each<[string, string, JsonObject, string, RegExp]>([
    [
      'manageable',
      'inspect',
      {},
      'inspect failed',
      /failed with error: Failed to inspect hardware\. Reason: unable to start inspection: Node /,
    ],
    ['manageable', 'clean', CLEAN, 'clean failed', /^Failed to prepare node \S+ for cleaning: Node /],
    ['available', 'active', INSTALL, 'deploy failed', /^Failed to prepare to deploy: Node /],
    ['active', 'rescue', { rescue_password: 'x' }, 'rescue failed', /^Failed to rescue: Node /],
    ['active', 'service', SERVICE, 'service failed', /^Failed to prepare node \S+ for service: Node /],
  ])(
    'that contradicts the node’s properties fails a flow of a node that is %s: %s',
    async (from, verb, body, end, error) => {
      await using lab = await createStagedLab()
      for (const fields of [MEDIA, IPMI]) {
        const node = await lab.enroll({ fields: { ...fields, ...LOCKED, rescue_interface: 'agent' } })
        await done(node, 'manage')
        if (from !== 'manageable') await done(node, 'provide')
        if (from === 'active') expect(await done(node, 'active', INSTALL)).toBe('active')
        const value = { capabilities: { boot_mode: 'bios' } }
        await call(lab, 'PATCH', `/v1/nodes/${node.uuid}`, [{ op: 'add', path: '/instance_info', value }])
        expect(await done(node, verb, body)).toBe(end)
        const { last_error: text } = await node.get()
        expect(text).toMatch(error)
        expect(text).toContain(CONTRADICTION)
      }
    },
  )

  test('of secure boot is UEFI whatever the properties say, and capabilities that cannot be read are refused', async () => {
    await using lab = await createStagedLab()
    const properties = { capabilities: 'boot_mode:bios' }
    const instance_info = { capabilities: { secure_boot: 'true' } }
    const node = await lab.enroll({ fields: { ...MEDIA, properties, instance_info, automated_clean: false } })
    await done(node, 'manage')
    await done(node, 'provide')
    expect(await done(node, 'active', INSTALL)).toBe('active')
    expect(await node.get()).toMatchObject({ boot_mode: 'uefi', secure_boot: true })

    for (const capabilities of ['boot_mode:uefi', '[]', 7, null]) {
      const other = await lab.enroll({ fields: { ...MEDIA, instance_info: { capabilities }, automated_clean: false } })
      await done(other, 'manage')
      await done(other, 'provide')
      await expect(other.provision('active', INSTALL)).rejects.toThrow(
        `Error parsing capabilities from Node ${other.uuid} instance_info field. A dictionary or a "jsonified" dictionary is expected.`,
      )
    }
  })

  test('a BMC that refuses it fails the boot', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ fields: { properties: { capabilities: 'boot_mode:bios' } } })
    await done(node, 'manage')
    lab.faults.add({ match: { node: node.uuid, bmc: 'set boot' }, effect: { kind: 'status', status: 405 } })
    await done(node, 'provide')
    expect((await node.get()).last_error).toMatch(
      /^Failed to prepare node .* for cleaning: Redfish exception occurred\. Error: Setting boot mode to bios failed for node .*\. Error: HTTP PATCH .* returned code 405\./,
    )
  })

  test('a BMC that refuses secure boot alone fails the boot, and its route strikes nothing else', async () => {
    await using lab = await createStagedLab()
    const instance_info = { capabilities: { secure_boot: 'true' } }
    const node = await lab.enroll({ fields: { ...MEDIA, instance_info, automated_clean: false } })
    await done(node, 'manage')
    await done(node, 'provide')
    const route = 'PATCH /redfish/v1/Systems/:id/SecureBoot'
    lab.faults.add({ match: { node: node.uuid, route }, effect: { kind: 'status', status: 400 } })
    expect(await done(node, 'active', INSTALL)).toBe('deploy failed')
    expect((await node.get()).last_error).toContain(`Failed to set secure boot state on node ${node.uuid} to True`)
    expect(lab.journal.entries({ fault: 'fault-1', kind: 'bmc' })).toMatchObject([{ call: 'change firmware' }])
  })

  test('over IPMI stays what it is', async () => {
    await using lab = await createStagedLab()
    const fields = {
      driver: 'ipmi',
      driver_info: { ipmi_address: '198.19.0.9' },
      properties: { capabilities: 'boot_mode:bios' },
    }
    const node = await lab.enroll({ fields })
    await done(node, 'manage')
    expect(await done(node, 'provide')).toBe('available')
    expect((await machineOf(node)).firmware.bootMode).toBe('uefi')
  })
})

describe('secure boot', () => {
  const SECURE = { instance_info: { capabilities: { secure_boot: 'true' } } }

  test.each([
    ['over the network', {}],
    ['from virtual media', MEDIA],
  ])('is on while the instance runs, off for ramdisks over it, and off when it is gone, %s', async (_, fields) => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ fields: { rescue_interface: 'agent', ...fields, ...SECURE } })
    await done(node, 'manage')
    await done(node, 'provide')
    const machine = await machineOf(node)
    expect(machine.firmware.report().secureBoot).toBe(false)

    expect(await done(node, 'active', INSTALL)).toBe('active')
    expect(machine.firmware.bootedSecurely).toBe(true)
    expect(await node.get()).toMatchObject({ secure_boot: true, boot_mode: 'uefi' })

    expect(await done(node, 'rescue', { rescue_password: 'secret' })).toBe('rescue')
    expect(machine.firmware.bootedSecurely).toBe(false)
    expect(await done(node, 'unrescue')).toBe('active')
    expect(machine.firmware.bootedSecurely).toBe(true)

    expect(await done(node, 'deleted')).toBe('available')
    expect(machine.firmware.report().secureBoot).toBe(false)
    expect(await node.get()).toMatchObject({ secure_boot: false })
  })

  test('of a live ISO', async () => {
    await using lab = await createStagedLab()
    const instance_info = { boot_iso: ISO, capabilities: { secure_boot: 'true' } }
    const node = await lab.enroll({ fields: { ...MEDIA, deploy_interface: 'ramdisk', instance_info } })
    await done(node, 'manage')
    await done(node, 'provide')
    expect(await done(node, 'active')).toBe('active')
    expect((await machineOf(node)).firmware.bootedSecurely).toBe(true)
    await done(node, 'deleted')
    expect((await machineOf(node)).firmware.report().secureBoot).toBe(false)
  })

  test('a management interface without it is warned of, and the deployment continues', async () => {
    const warnings: string[] = []
    await using lab = await createStagedLab({ logger: (level, text) => void (level === 'warn' && warnings.push(text)) })
    const fields = { driver: 'ipmi', driver_info: { ipmi_address: '198.19.0.9' }, ...SECURE }
    const node = await lab.enroll({ fields })
    await done(node, 'manage')
    await done(node, 'provide')
    expect(await done(node, 'active', INSTALL)).toBe('active')
    expect((await machineOf(node)).firmware.report().secureBoot).toBe(false)
    expect(warnings.join('\n')).toContain('its management interface ipmitool does not support it')
  })
})

describe('media in the drives', () => {
  test('a CD that a user attached to an instance is gone when the instance is', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ fields: { ...MEDIA, automated_clean: false } })
    await done(node, 'manage')
    await done(node, 'provide')
    await done(node, 'active', INSTALL)
    await attach(lab, node)
    await lab.client.power(node.uuid, 'rebooting')
    await node.until(({ reservation }) => reservation === null)
    expect(await drive(lab, node)).toBe(USERS_CD)
    expect(await done(node, 'deleted')).toBe('available')
    expect(await drive(lab, node)).toBeNull()
  })

  test('a ramdisk takes its place too; a boot over the network leaves it', async () => {
    await using lab = await createStagedLab()
    const media = await lab.enroll({ fields: MEDIA })
    const network = await lab.enroll()
    for (const node of [media, network]) {
      await done(node, 'manage')
      await attach(lab, node)
      expect(await done(node, 'inspect')).toBe('manageable')
    }
    expect(await drive(lab, media)).toBeNull()
    expect(await drive(lab, network)).toBe(USERS_CD)
  })

  test('a live ISO that runs is in the drive, for Redfish too, in place of what was there', async () => {
    await using lab = await createStagedLab()
    const fields = { ...MEDIA, deploy_interface: 'ramdisk', automated_clean: false, instance_info: { boot_iso: ISO } }
    const node = await lab.enroll({ fields })
    await done(node, 'manage')
    await attach(lab, node)
    await done(node, 'provide')
    expect(await done(node, 'active')).toBe('active')
    expect(await drive(lab, node)).toBe(ISO)
    expect((await machineOf(node)).firmware.inserted('cdrom')).toBe(ISO)
    expect(await done(node, 'deleted')).toBe('available')
    expect(await drive(lab, node)).toBeNull()
  })

  test('floppies and sticks go where the node has its parameters on them', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ fields: { ...MEDIA, automated_clean: false } })
    await lab.client.patchNode(node.uuid, [{ op: 'add', path: '/driver_info/config_via_removable', value: true }])
    await done(node, 'manage')
    const machine = await machineOf(node)
    await machine.firmware.insert('floppy', USERS_CD)
    expect(await done(node, 'inspect')).toBe('manageable')
    expect(machine.firmware.inserted('floppy')).toBeUndefined()
  })
})

describe('a deployment that ends early', () => {
  const SECURE = { instance_info: { capabilities: { secure_boot: 'true' } } }

  async function rebuilding(lab: StagedLab, fields: JsonObject): Promise<StagedNode> {
    const node = await lab.enroll({ fields: { ...fields, ...SECURE } })
    await done(node, 'manage')
    await done(node, 'provide')
    expect(await done(node, 'active', INSTALL)).toBe('active')
    expect(await node.get()).toMatchObject({ secure_boot: true, power_state: 'power on' })
    lab.faults.add({ match: { node: node.uuid }, effect: { kind: 'agent-silent' } })
    // A rebuild asks for an image.
    const image = [{ op: 'add', path: '/instance_info/image_source', value: 'http://images.example/disk.raw' }]
    await call(lab, 'PATCH', `/v1/nodes/${node.uuid}`, image)
    await node.provision('rebuild', INSTALL)
    await node.until(({ provision_state: state }) => state === 'wait call-back')
    return node
  }

  test.each<[string, string, JsonObject, string]>([
    ['is aborted', 'virtual media', MEDIA, 'power off'],
    ['is aborted', 'the network', {}, 'power on'],
    ['times out', 'virtual media', MEDIA, 'power off'],
    ['times out', 'the network', {}, 'power on'],
  ])('since it %s leaves no ramdisk from %s and no secure boot', async (end, _from, fields, power) => {
    await using lab = await createStagedLab()
    const node = await rebuilding(lab, fields)
    if (end === 'is aborted') await node.provision('abort')
    expect(await node.settled()).toMatchObject({
      provision_state: 'deploy failed',
      power_state: power,
      secure_boot: false,
      last_error:
        end === 'is aborted'
          ? 'By request, the deploy operation was aborted during or after the completion of step "deploy.deploy"'
          : `Timeout reached while waiting for callback for node ${node.uuid}`,
    })
    expect((await machineOf(node)).firmware.report().secureBoot).toBe(false)
  })

  test('by an abort whose clean-up fails says so', async () => {
    await using lab = await createStagedLab()
    const node = await rebuilding(lab, MEDIA)
    lab.faults.add({ match: { node: node.uuid, bmc: 'set power' }, effect: { kind: 'status', status: 400 } })
    await node.provision('abort')
    expect(await node.settled()).toMatchObject({
      provision_state: 'deploy failed',
      last_error: 'Failed to clean up deploying after aborting the operation',
    })
  })
})

describe('an abort of another flow cleans up after its ramdisk', () => {
  test.each<[string, string, JsonObject, string, string]>([
    ['inspect', 'manageable', {}, 'inspect failed', 'power off'],
    ['clean', 'manageable', CLEAN, 'clean failed', 'power off'],
    ['rescue', 'active', { rescue_password: 'x' }, 'rescue failed', 'power off'],
    ['service', 'active', SERVICE, 'active', 'power on'],
  ])('%s', async (verb, from, body, end, power) => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ fields: { ...MEDIA, rescue_interface: 'agent', automated_clean: false } })
    await done(node, 'manage')
    if (from === 'active') {
      await done(node, 'provide')
      expect(await done(node, 'active', INSTALL)).toBe('active')
    }
    lab.faults.add({ match: { node: node.uuid }, effect: { kind: 'agent-silent' } })
    await node.provision(verb as 'manage', body)
    await node.until(({ provision_state: state }) => state.endsWith('wait'))
    await node.provision('abort')
    expect(await node.settled()).toMatchObject({ provision_state: end, power_state: power })
    expect((await machineOf(node)).boot()?.outcome).toBe(power === 'power on' ? 'disk' : undefined)
  })
  test('rescue: one that fails puts the node into maintenance', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ fields: { ...MEDIA, rescue_interface: 'agent', automated_clean: false } })
    await done(node, 'manage')
    await done(node, 'provide')
    await done(node, 'active', INSTALL)
    lab.faults.add({ match: { node: node.uuid }, effect: { kind: 'agent-silent' } })
    await node.provision('rescue', { rescue_password: 'x' })
    await node.until(({ provision_state: state }) => state === 'rescue wait')
    lab.faults.add({ match: { node: node.uuid, bmc: 'set power' }, effect: { kind: 'status', status: 400 } })
    await node.provision('abort')
    const reason = 'Failed to clean up rescue after aborting the operation'
    expect(await node.settled()).toMatchObject({
      provision_state: 'rescue failed',
      maintenance: true,
      maintenance_reason: reason,
      fault: 'rescue abort failure',
      last_error: reason,
    })
  })
})
