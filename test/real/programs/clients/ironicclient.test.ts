import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Baremetal } from './baremetal.js'
import { commandedIronic, type CommandedIronic } from './commanded-ironic.js'
import { commandedNode } from './commanded-node.js'
import { INSTALLATION, type ServedIronic } from './served.js'

let commanded: CommandedIronic | undefined
let ironic: ServedIronic
let baremetal: Baremetal
let folder: string
beforeAll(async () => {
  commanded = await commandedIronic({ profile: 'upstream' })
  ;({ ironic, baremetal, folder } = commanded)
}, INSTALLATION)
afterAll(() => commanded?.[Symbol.asyncDispose]())

const CUSTOM = ['--deploy-interface', 'custom-agent', '--inspect-interface', 'agent', '--rescue-interface', 'agent']
const UNCLEANED = [...CUSTOM, '--no-automated-clean']
const INSTALL = JSON.stringify([{ interface: 'deploy', step: 'install_coreos', priority: 80, args: {} }])
const ignition = JSON.stringify({ ignition: { version: '3.4.0' } })

async function file(name: string, content: unknown): Promise<string> {
  await writeFile(join(folder, name), JSON.stringify(content))
  return join(folder, name)
}

describe.concurrent('baremetal', () => {
  test('takes a node from enrollment to deployment and back', async () => {
    const node = await commandedNode({ baremetal, ironic }, 'whole', ...CUSTOM)
    expect(await node.show()).toMatchObject({ provision_state: 'enroll', power_state: null })
    await node.waited('manage')
    expect(await node.show()).toMatchObject({ provision_state: 'manageable', power_state: 'power off' })

    await node.waited('inspect')
    const inventory = join(folder, 'inventory.json')
    await baremetal.ok(`node inventory save whole --file ${inventory}`)
    expect(JSON.parse(await readFile(inventory, 'utf8'))).toMatchObject({
      inventory: { interfaces: expect.arrayContaining([expect.objectContaining({ mac_address: node.mac })]) },
      plugin_data: expect.any(Object),
    })

    await node.waited('provide')
    const configdrive = JSON.stringify({ meta_data: { name: 'whole' }, user_data: ignition })
    await node.waited('deploy', '--deploy-steps', INSTALL, '--config-drive', configdrive)
    expect(await node.show()).toMatchObject({ provision_state: 'active', power_state: 'power on', last_error: null })
    await node.waited('undeploy')
    expect(await node.show()).toMatchObject({ provision_state: 'available', instance_info: {}, last_error: null })

    await node.waited('manage')
    const steps = [{ interface: 'deploy', step: 'erase_devices_metadata' }]
    await node.waited('clean', '--clean-steps', await file('clean-steps.json', steps))
    expect(await node.show()).toMatchObject({ provision_state: 'manageable', last_error: null })
    await baremetal.ok('node delete whole')
    expect(await baremetal.refused('node show whole')).toBe('1: Node whole could not be found. (HTTP 404)')
  })

  test('rebuilds, rescues and services an instance', async () => {
    const node = await commandedNode({ baremetal, ironic }, 'instance', ...UNCLEANED)
    await node.waited('manage')
    await node.waited('provide')
    const configdrive = await file('config-drive.json', { meta_data: { name: 'instance' }, user_data: ignition })
    await node.waited('deploy', '--deploy-steps', INSTALL, '--config-drive', configdrive)

    await node.waited('rescue', '--rescue-password', 'let-me-in')
    expect(await node.show()).toMatchObject({ provision_state: 'rescue', power_state: 'power on' })
    await node.waited('unrescue')
    const settings = [{ interface: 'bios', step: 'apply_configuration', args: { settings: [] } }]
    await node.waited('service', '--service-steps', JSON.stringify(settings))
    await baremetal.ok('node set instance --instance-info boot_iso=http://images.invalid/live.iso')
    await node.waited('rebuild', '--deploy-steps', INSTALL, '--config-drive', configdrive)
    expect(await node.show()).toMatchObject({ provision_state: 'active', last_error: null })
  })

  test('adopts what runs already, keeps it from being undeployed, retires it', async () => {
    const node = await commandedNode({ baremetal, ironic }, 'adopted', ...CUSTOM)
    await node.waited('manage')
    await node.waited('adopt')
    await baremetal.ok('node set adopted --protected --protected-reason', 'holds the database')
    expect(await node.show()).toMatchObject({ provision_state: 'active', protected: true })
    expect(await baremetal.refused('node undeploy adopted')).toBe(
      `1: Node ${node.uuid} is protected and cannot be undeployed, rebuilt or deleted (HTTP 403)`,
    )
    await baremetal.ok('node unset adopted --protected')
    await baremetal.ok('node set adopted --retired --retired-reason', 'out of warranty')
    await baremetal.ok('node undeploy adopted')
    await node.until({ provision_state: 'manageable' })
    expect(await node.show()).toMatchObject({ retired: true, retired_reason: 'out of warranty' })
  })

  test('aborts a cleaning and an inspection that wait for an agent, and continues from there', async () => {
    const node = await commandedNode({ baremetal, ironic }, 'aborted', ...CUSTOM)
    await node.waited('manage')
    // A hold is where a client surely finds it waiting.
    await baremetal.ok('node clean aborted --clean-steps', '[{"interface":"power","step":"hold"}]')
    await node.until({ provision_state: 'clean hold' })
    await baremetal.ok('node unhold aborted')
    await node.until({ provision_state: 'manageable' })
    await baremetal.ok('node clean aborted --clean-steps', '[{"interface":"power","step":"hold"}]')
    await node.until({ provision_state: 'clean hold' })
    await baremetal.ok('node abort aborted')
    // Such a step is let to its end first.
    await baremetal.ok('node unhold aborted')
    expect(await node.until({ provision_state: 'clean failed' })).toMatchObject({
      last_error: 'By request, the clean operation was aborted during or after the completion of step "power.hold"',
    })
    await baremetal.ok('node maintenance unset aborted')
    await node.waited('manage')

    using _silence = ironic.stage.faults.add({ match: { node: node.uuid }, effect: { kind: 'agent-silent' } })
    await baremetal.ok('node inspect aborted')
    await node.until({ provision_state: 'inspect wait' })
    await baremetal.ok('node abort aborted')
    await node.until({ provision_state: 'inspect failed', last_error: 'Inspection was aborted by request.' })
    expect(await baremetal.refused('node provide aborted')).toBe(
      '1: The requested action "provide" can not be performed on node "' +
        `${node.uuid}" while it is in state "inspect failed". (HTTP 400)`,
    )
  })

  test('works power, boot device, boot mode and secure boot', async () => {
    const node = await commandedNode({ baremetal, ironic }, 'hardware', ...UNCLEANED)
    await node.waited('manage')
    for (const [command, state] of [
      ['node power on hardware', 'power on'],
      ['node power off hardware --soft --power-timeout 60', 'power off'],
      ['node power on hardware', 'power on'],
      ['node reboot hardware', 'power on'],
      ['node reboot hardware --soft', 'power on'],
      ['node power off hardware', 'power off'],
    ] as const) {
      await baremetal.ok(command)
      await node.until({ power_state: state, target_power_state: null })
    }
    await baremetal.ok('node boot device set hardware pxe --persistent')
    expect(await baremetal.json('node boot device show hardware')).toMatchObject({
      boot_device: 'pxe',
      persistent: true,
    })
    const { supported_boot_devices: devices } = await baremetal.json('node boot device show hardware --supported')
    expect(String(devices).split(', ')).toEqual(expect.arrayContaining(['pxe', 'disk', 'cdrom']))
    await baremetal.ok('node boot mode set hardware bios')
    await node.until({ boot_mode: 'bios' })
    await baremetal.ok('node boot mode set hardware uefi')
    await node.until({ boot_mode: 'uefi' })
    await baremetal.ok('node secure boot on hardware')
    await node.until({ secure_boot: true })
    await baremetal.ok('node secure boot off hardware')
    await baremetal.ok('node inject nmi hardware')
    expect(await baremetal.json('node console show hardware')).toMatchObject({ console_enabled: false })
  })

  test('shows BIOS settings, firmware, validation, history and passthru methods', async () => {
    const node = await commandedNode({ baremetal, ironic }, 'looked-at', ...UNCLEANED)
    await node.waited('manage')
    type Setting = { name: string; value: string }
    const settings = await baremetal.json<Setting[]>('node bios setting list looked-at')
    expect(settings.length).toBeGreaterThan(0)
    const { name, value } = settings[0]!
    expect(await baremetal.json(`node bios setting show looked-at ${name}`)).toMatchObject({ name, value })
    expect(await baremetal.refused('node bios setting show looked-at NoSuchSetting')).toBe(
      `1: Node ${node.uuid} doesn't have a BIOS setting 'NoSuchSetting' (HTTP 404)`,
    )
    const components = await baremetal.json<{ component: string }[]>('node firmware list looked-at')
    expect(components.map(({ component }) => component)).toEqual(expect.arrayContaining(['bios', 'bmc']))
    const checked = await baremetal.json<{ Interface: string; Result: boolean }[]>('node validate looked-at')
    expect(checked).toContainEqual(expect.objectContaining({ Interface: 'power', Result: true }))
    const methods = await baremetal.json<{ Name: string }[]>('node passthru list looked-at')
    expect(methods.map(({ Name }) => Name)).toContain('create_subscription')

    await baremetal.ok('node set looked-at --driver-info redfish_address=not-an-address')
    const provided = await baremetal.run(['node', 'provide', 'looked-at', '--wait', '60'])
    expect(provided).toMatchObject({ code: 0 })
    await node
      .waited('deploy', '--deploy-steps', '[{"interface":"deploy","step":"nonsense","priority":80,"args":{}}]')
      .then(
        () => expect.unreachable(),
        (error: unknown) => expect(String(error)).toContain("It's in state deploy failed, and has error: "),
      )
    const events = await baremetal.json<{ uuid: string; severity: string }[]>('node history list looked-at --long')
    expect(events).toContainEqual(expect.objectContaining({ severity: 'ERROR' }))
    const { event } = await baremetal.json(`node history get looked-at ${events[0]!.uuid}`)
    expect(event).toEqual(expect.any(String))
  })
})
