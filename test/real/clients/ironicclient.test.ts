import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Baremetal } from './baremetal.js'
import { commandedNode } from './commanded-node.js'
import { served } from './served.js'

/** Of a cold cache; most of it is the installation. */
const INSTALLATION = 900_000

let ironic: Awaited<ReturnType<typeof served>>
let baremetal: Baremetal
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-clients-'))
  ironic = await served({ profile: 'upstream', settings: { 'conductor.node_history': 'true' } })
  baremetal = await Baremetal.open({ OS_ENDPOINT: ironic.url, OS_AUTH_TYPE: 'none' })
}, INSTALLATION)
afterAll(async () => {
  await baremetal?.[Symbol.asyncDispose]()
  await ironic?.[Symbol.asyncDispose]()
  if (folder) await rm(folder, { recursive: true, force: true })
})

const CUSTOM = ['--deploy-interface', 'custom-agent', '--inspect-interface', 'agent', '--rescue-interface', 'agent']
const INSTALL = JSON.stringify([{ interface: 'deploy', step: 'install_coreos', priority: 80, args: {} }])
const ignition = JSON.stringify({ ignition: { version: '3.4.0' } })

describe.concurrent('baremetal', () => {
  test('takes a node from enrolment to deployment and back', async () => {
    const node = await commandedNode(baremetal, 'whole', ...CUSTOM)
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
    const states = (await baremetal.json<{ Event: string }[]>('node history list whole')).length
    expect(states).toBeGreaterThanOrEqual(0)

    await node.waited('rescue', '--rescue-password', 'let-me-in')
    expect(await node.show()).toMatchObject({ provision_state: 'rescue' })
    await node.waited('unrescue')
    await node.waited(
      'service',
      '--service-steps',
      '[{"interface":"deploy","step":"erase_devices_metadata","args":{}}]',
    ).catch((error: unknown) => expect(String(error)).toBe(''))
    await baremetal.ok('node maintenance set whole --reason testing')
    expect(await node.show()).toMatchObject({ maintenance: true, maintenance_reason: 'testing' })
    await baremetal.ok('node maintenance unset whole')
    await node.waited('undeploy')
    expect(await node.show()).toMatchObject({ provision_state: 'available', instance_info: {}, last_error: null })
    await node.waited('manage')
    await baremetal.ok('node delete whole')
    expect(await baremetal.refused('node show whole')).toContain('could not be found')
  })
})
