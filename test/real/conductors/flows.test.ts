import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readLifecycle } from '../../contract/lifecycle-recording.js'
import { partsFrom } from '../exchanges.js'
import { realIronic, type RealIronic } from '../ironic.js'
import { availableNode, realNode, type RealNode } from '../real-node.js'

/** Milliseconds with a cold cache, minutes of which are the installation of peers. */
const INSTALLATION = 900_000

let ironic: RealIronic
// The fake boot interface cannot boot for rescue, so the power follower boots the machine instead.
beforeAll(async () => void (ironic = await realIronic({ agent: { manage_agent_boot: 'false' } })), INSTALLATION)
afterAll(() => ironic?.[Symbol.asyncDispose]())

async function manageableNode(name: string, fields: Record<string, unknown> = {}): Promise<RealNode> {
  const node = await realNode(ironic, name, fields)
  await node.provision('manage')
  await node.settled('manageable')
  return node
}

const commands = ({ seen }: RealNode) =>
  seen.flatMap(({ from, method, request }) =>
    from === 'ironic' && method === 'POST' ? [(request as { name: string }).name] : [],
  )

describe.concurrent('a real conductor takes our agent through', () => {
  test('an inspection that collects the inventory alone, and one that is aborted', async () => {
    await using node = await manageableNode('inspected')
    node.parameters['ipa-inspection-collectors'] = 'default'
    await node.provision('inspect')
    await node.reached('inspect wait')
    await node.settled('manageable')
    const raced = 'the machine may be switched off before'
    const part = 'inspection of one node, default collector only'
    expect(partsFrom(readLifecycle('agent-inspect'), part, node.seen, node.uuid, { 5: raced, 6: raced })).toEqual([])

    node.silent = true
    await node.provision('inspect')
    await node.settled('inspect wait')
    await node.provision('abort')
    expect(await node.settled('inspect failed')).toMatchObject({ last_error: expect.stringContaining('aborted') })
    node.silent = false
    await node.provision('inspect')
    await node.reached('inspect wait')
    await node.settled('manageable')
  })

  test('software RAID by the interface agent: made, found by an inspection, deleted', async () => {
    await using node = await manageableNode('raid', { raid_interface: 'agent', automated_clean: false })
    const wanted = { logical_disks: [{ size_gb: 'MAX', raid_level: '1', controller: 'software' }] }
    expect(await node.send('PUT', `/v1/nodes/${node.uuid}/states/raid`, wanted)).toMatchObject({ status: 204 })
    const cleaned = async (step: string) => {
      await node.provision('clean', { clean_steps: [{ interface: 'raid', step }] })
      await node.reached('clean wait')
      return node.settled('manageable')
    }
    expect(await cleaned('create_configuration')).toMatchObject({ raid_config: wanted })
    await node.provision('inspect')
    await node.reached('inspect wait')
    await node.settled('manageable')
    const { body } = await node.send('GET', `/v1/nodes/${node.uuid}/inventory`)
    expect(body).toMatchObject({
      inventory: { disks: expect.arrayContaining([expect.objectContaining({ name: '/dev/md127' })]) },
    })
    expect(await cleaned('delete_configuration')).toMatchObject({ raid_config: {} })
  })

  test('rescue and back', async () => {
    await using node = await availableNode(ironic, 'rescued', { rescue_interface: 'agent' })
    await node.provision('active', {
      deploy_steps: [{ interface: 'deploy', step: 'install_coreos', priority: 80, args: {} }],
    })
    await node.settled('active')
    const before = node.seen.length
    await node.provision('rescue', { rescue_password: 'let me in' })
    await node.settled('rescue')
    expect(commands({ ...node, seen: node.seen.slice(before) })).toEqual(['rescue.finalize_rescue'])
    expect(
      await node.agent.machine.executor.files.read('/etc/ipa-rescue-config/ipa-rescue-password').then(String),
    ).toMatch(/^\$\d\$/)
    await node.provision('unrescue')
    await node.settled('active')
  })
})
