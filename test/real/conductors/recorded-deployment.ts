import { readFileSync } from 'node:fs'
import type { ApiNode, Inventory, ProvisionState } from '../../../base/wire/index.js'
import { ipaMachine } from '../ipa.js'
import { followPower } from '../power-follower.js'
import type { RealIronic } from '../ironic.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

const VERSION = { 'x-openstack-ironic-api-version': '1.109', 'content-type': 'application/json' }

/** The recorded inventory of another real agent. */
export function recordedInventory(): Inventory {
  const file = new URL('../../fixtures/agent-api/agent-api-direct.json', import.meta.url)
  const exchanges = JSON.parse(readFileSync(file, 'utf8')) as { body: unknown; answer: unknown }[]
  const exchange = exchanges.find(({ body }) => (body as { name?: string } | null)?.name === 'poll.get_hardware_info')
  return (exchange!.answer as { command_result: Inventory }).command_result
}

/**
 * Takes a node of a real Ironic, with the real agent, from enrolment through inspection and cleaning to a deployment.
 * Client and agent speak by way of `url`.
 */
export async function realDeployment(ironic: RealIronic, url: string): Promise<void> {
  const recorded = recordedInventory()
  // As ours, whose firmware tells the kernel which NIC it booted from.
  const inventory = { ...recorded, boot: { ...recorded.boot, pxe_interface: recorded.interfaces[0]!.mac_address } }
  await using machine = await ipaMachine({ ironicUrl: url, inventory })
  const send = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(url + path, { method, headers: VERSION, ...sent })
    const text = await response.text()
    return text === '' ? null : JSON.parse(text)
  }
  const { uuid } = (await send('POST', '/v1/nodes', {
    driver: 'fake-hardware',
    name: 'recorded',
    inspect_interface: 'agent',
    deploy_interface: 'custom-agent',
    driver_info: { password: 'correct horse' },
    properties: { cpu_arch: 'x86_64' },
    extra: { rack: 'r1' },
  })) as ApiNode
  await send('POST', '/v1/ports', { node_uuid: uuid, address: inventory.interfaces[0]!.mac_address, pxe_enabled: true })

  const log: string[] = []
  // The BMC is none of the recorded parties.
  await using _ = followPower({
    machine,
    node: async () => (await ironic.send('GET', `/v1/nodes/${uuid}`)).body as ApiNode,
    source: ({ provision_state: state, deploy_step: step }) => {
      const boots = (step as { step?: string } | null)?.step
      if (state === 'active' || (state === 'deploying' && boots !== undefined && boots !== 'deploy'))
        return { kind: 'disk' }
      const inspection = { 'ipa-inspection-callback-url': `${url}/v1/continue_inspection` }
      return { kind: 'ramdisk', parameters: state.startsWith('inspect') ? inspection : {} }
    },
    onNode: () => {},
    onError: (error) => log.push(String(error)),
    onSwitched: (what) => log.push(what),
  })
  const settled = async (state: ProvisionState): Promise<void> => {
    const deadline = Date.now() + REAL_PEER_TIMEOUT
    for (;;) {
      const node = (await send('GET', `/v1/nodes/${uuid}`)) as ApiNode
      const rests = node.reservation === null && node.target_power_state === null
      if (rests && node.provision_state === state) return
      if ((rests && node.provision_state.endsWith('failed')) || Date.now() > deadline)
        throw new Error(
          `the node was to become ${state}: ${node.provision_state} ${node.last_error}\n${log.join('\n')}\n${await machine.logged()}`,
        )
      await new Promise((done) => setTimeout(done, 250))
    }
  }
  const provision = (target: string, more: object = {}) =>
    send('PUT', `/v1/nodes/${uuid}/states/provision`, { target, ...more })

  await provision('manage')
  await settled('manageable')
  await provision('inspect')
  await settled('manageable')
  await send('GET', `/v1/nodes/${uuid}/validate`)
  await provision('provide')
  await settled('available')
  await send('PATCH', `/v1/nodes/${uuid}`, [
    { op: 'add', path: '/instance_info/image_source', value: 'http://192.0.2.1/image' },
  ])
  await provision('active', {
    configdrive: { meta_data: { name: 'recorded' }, user_data: '#cloud-config\npassword: secret words' },
    deploy_steps: [{ interface: 'deploy', step: 'erase_devices_metadata', priority: 90, args: {} }],
  })
  await settled('active')
  await send('GET', `/v1/nodes/${uuid}/states`)
  await send('GET', `/v1/ports?node=${uuid}`)
}
