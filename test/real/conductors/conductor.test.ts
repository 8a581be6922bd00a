import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readFile } from 'node:fs/promises'
import { defined } from '../../../base/runtime/index.js'
import { configdrive, ignition, IMAGE, imageServer } from '../../kit/deployed.js'
import { readLifecycle, type LifecycleRecording } from '../../contract/lifecycle-recording.js'
import { partsFrom } from '../exchanges.js'
import { realIronic, type RealIronic } from '../ironic.js'
import { availableNode, realNode, type RealNode } from '../real-node.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** Milliseconds with a cold cache, minutes of which are the installation of peers. */
const INSTALLATION = 900_000

let ironic: RealIronic
beforeAll(async () => void (ironic = await realIronic()), INSTALLATION)
afterAll(() => ironic?.[Symbol.asyncDispose]())

/** First boots and polled states come a moment later than what they follow. */
const LATER = { timeout: REAL_PEER_TIMEOUT }

const install = (args: Record<string, unknown> = {}) => ({
  deploy_steps: [{ interface: 'deploy', step: 'install_coreos', priority: 80, args }],
})
const manual = (...steps: { step: string; args?: Record<string, unknown> }[]) => ({
  clean_steps: steps.map((step) => ({ interface: 'deploy', ...step })),
})
const service = (step: string, args?: Record<string, unknown>) => ({
  service_steps: [{ interface: 'deploy', step, ...defined({ args }) }],
})

/** Compares what has been exchanged since it was asked last with a step of a recording. */
function comparing(recording: LifecycleRecording, node: RealNode) {
  let from = 0
  return (step: string, apart: Readonly<Record<number, string>> = {}): string[] => {
    const found = partsFrom(recording, step, node.seen.slice(from), node.uuid, apart)
    from = node.seen.length
    return found
  }
}

describe.concurrent('a real conductor takes our agent through', () => {
  test('inspection, cleaning, a deployment by configdrive, rebuild, undeployment: as it took the real agent', async () => {
    await using server = await imageServer({ '/coreos.raw.xz': await readFile(IMAGE) })
    await using node = await realNode(ironic, 'lifecycle', { properties: { root_device: { name: '/dev/sda' } } })
    const apart = comparing(readLifecycle('agent-full-lifecycle'), node)
    const { machine } = node.agent
    await node.provision('manage')
    await node.settled('manageable')

    await node.provision('inspect')
    await node.reached('inspect wait')
    await node.settled('manageable')
    const { body } = await node.send('GET', `/v1/nodes/${node.uuid}/inventory`)
    expect(body).toMatchObject({
      inventory: {
        interfaces: machine.spec.nics.map(({ mac }) => ({ mac_address: mac })),
        disks: machine.spec.disks.map(({ serial }) => ({ serial })),
      },
    })
    const raced = 'the machine may be switched off before'
    expect(apart('in-band inspection', { 11: raced, 12: raced })).toEqual([])

    await node.provision('provide')
    await node.settled('available')
    expect(apart('automated cleaning')).toEqual([])

    const image = { op: 'add', path: '/instance_info/image_source', value: server.url('/coreos.raw.xz') }
    expect(await node.send('PATCH', `/v1/nodes/${node.uuid}`, [image])).toMatchObject({ status: 200 })
    await node.provision('active', { ...install(), configdrive })
    await node.settled('active')
    await vi.waitFor(() => expect(machine.firstBoot()?.hostname).toBe('worker-0'), LATER)
    expect(machine.firstBoot()?.files).toContain('/etc/motd')
    expect(apart('deploy')).toEqual([])

    await node.provision('rebuild', {
      ...install(),
      configdrive: { user_data: JSON.stringify({ ignition: ignition.ignition }) },
    })
    await node.reached('wait call-back')
    await node.settled('active')
    await vi.waitFor(() => expect(machine.firstBoot()?.files).not.toContain('/etc/motd'), LATER)
    expect(apart('rebuild')).toEqual([])

    await node.provision('deleted')
    await node.settled('available')
    expect(apart('undeploy')).toEqual([])
    expect(await node.send('DELETE', `/v1/nodes/${node.uuid}`)).toMatchObject({ status: 204 })
    expect(node.log.filter((line) => line.startsWith('error'))).toEqual([])
  })

  test('deployments that fail, and one that works on the next attempt', async () => {
    await using node = await availableNode(ironic, 'failures')
    const apart = comparing(readLifecycle('agent-deploy-failures'), node)
    const failed = async (fields: Record<string, unknown>) => {
      await node.provision('active', fields)
      await node.reached('wait call-back')
      return (await node.settled('deploy failed')).last_error
    }
    const undeployed = async () => {
      await node.provision('deleted')
      await node.settled('available')
    }
    const refusedFirst =
      'ours refuses such a configdrive before it chooses a disk, for which IPA looks the node up again'

    node.failing.set('coreos-installer', { exitCode: 1, stderr: 'Error: no such image\n' })
    expect(await failed({ ...install(), configdrive })).toMatch(
      new RegExp(`^Deploy step deploy.install_coreos failed on node ${node.uuid}\\. .*no such image`, 's'),
    )
    expect(apart('coreos-installer fails three times')).toEqual([])

    node.failing.clear()
    await node.provision('active', { ...install(), configdrive })
    await node.settled('active')
    expect(apart('retry from deploy failed, succeeds')).toEqual([])
    await undeployed()

    expect(await failed(install({ nosuch: 1 }))).toContain('has these unexpected arguments: nosuch')
    expect(apart('install_coreos with an argument it does not have')).toEqual([])
    await undeployed()

    expect(await failed({ ...install(), configdrive: 'H4sIAKBlAWsC/8vLL1EoSk3MyalUSMxT8Az2BwD9k8q2EQAAAA==' })).toMatch(
      /configdrive/,
    )
    expect(apart('a configdrive that is text: the agent rejects it', { 67: refusedFirst })).toEqual([])
    await undeployed()

    expect(await failed({ deploy_steps: [{ interface: 'deploy', step: 'nosuch', priority: 80, args: {} }] })).toContain(
      'node does not support this deploy step',
    )
    expect(apart('an unknown step')).toEqual([])
    await undeployed()

    const hints = { path: '/properties/root_device', value: { serial: 'nosuch' } }
    await node.send('PATCH', `/v1/nodes/${node.uuid}`, [{ op: 'add', ...hints }])
    expect(await failed(install())).toContain('No suitable device was found')
    expect(apart('root device hints that match nothing')).toEqual([])
    await node.send('PATCH', `/v1/nodes/${node.uuid}`, [{ op: 'remove', path: hints.path }])
    await undeployed()
  })

  test('a deployment without steps of its own, one by arguments, one that is aborted and one undeployed in wait call-back', async () => {
    await using node = await availableNode(ironic, 'others')
    const apart = comparing(readLifecycle('agent-deploy-failures'), node)
    const { machine } = node.agent
    await node.provision('active')
    await node.settled('active')
    expect(apart('no step at all that deploys')).toEqual([])
    expect(node.ran.filter(({ argv }) => argv[0]?.endsWith('coreos-installer'))).toEqual([])
    await node.provision('deleted')
    await node.settled('available')

    await node.provision('active', install({ ignition, append_karg: ['rehearsal=1'] }))
    await node.settled('active')
    await vi.waitFor(() => expect(machine.firstBoot()?.kernelArguments).toContain('rehearsal=1'), LATER)
    await node.provision('deleted')
    await node.settled('available')

    // The ramdisk never comes up.
    node.silent = true
    await node.provision('active', install())
    await node.settled('wait call-back')
    await node.provision('abort')
    expect(await node.settled('deploy failed')).toMatchObject({ last_error: expect.stringContaining('abort') })
    await node.provision('deleted')
    await node.settled('available')
    await node.provision('active', install())
    await node.settled('wait call-back')
    await node.provision('deleted')
    await node.settled('available')
  })

  test('manual cleaning: two steps, a reboot, steps that do not fit, a failure, an abort', async () => {
    await using node = await realNode(ironic, 'manual-clean', { automated_clean: false })
    const apart = comparing(readLifecycle('agent-manual-clean'), node)
    await node.provision('manage')
    await node.settled('manageable')
    const cleaned = async (...steps: { step: string; args?: Record<string, unknown> }[]) => {
      await node.provision('clean', manual(...steps))
      await node.reached('clean wait')
      await node.settled('manageable')
    }
    const failed = async (...steps: { step: string; args?: Record<string, unknown> }[]) => {
      await node.provision('clean', manual(...steps))
      const { last_error: error, maintenance, fault } = await node.settled('clean failed')
      if (maintenance) await node.send('DELETE', `/v1/nodes/${node.uuid}/maintenance`)
      await node.provision('manage')
      await node.settled('manageable')
      return { error, fault }
    }

    await cleaned({ step: 'erase_devices_metadata' }, { step: 'practice_sleep', args: { seconds: 1 } })
    expect(apart('two in-band steps, one with arguments')).toEqual([])

    await cleaned({ step: 'practice_reboot' }, { step: 'practice_noop' })
    // Ironic does not look whether the agent's own step asks for a reboot once a user has named it.
    expect(apart('a step that asks for a reboot')).toEqual([])

    expect(await failed({ step: 'nosuch' })).toMatchObject({
      error: expect.stringContaining('node does not support this clean step'),
      fault: null,
    })
    expect(await failed({ step: 'practice_noop', args: { unexpected: 1 } })).toMatchObject({
      error: expect.stringContaining('unexpected arguments: unexpected'),
    })
    expect(await failed({ step: 'practice_sleep' })).toMatchObject({
      error: expect.stringContaining('missing these required arguments: seconds'),
    })
    expect(apart('an unknown step, and unknown and missing arguments')).toEqual([])

    expect(await failed({ step: 'practice_fail', args: { message: 'no luck' } })).toEqual({
      error: `Clean step deploy.practice_fail failed on node ${node.uuid}. no luck`,
      fault: 'clean failure',
    })
    expect(apart('a step that fails')).toEqual([])

    const before = node.seen.length
    await node.provision('clean', manual({ step: 'practice_sleep', args: { seconds: 60 } }))
    await vi.waitFor(
      () =>
        expect(
          node.seen
            .slice(before)
            .map(({ request }) => JSON.stringify(request))
            .join(),
        ).toContain('execute_clean_step'),
      LATER,
    )
    await node.settled('clean wait')
    await node.provision('abort')
    expect(await node.settled('clean failed')).toMatchObject({ last_error: expect.stringContaining('abort') })
    expect(apart('abort while a step runs')).toEqual([])
  })

  test('TLS, as the real agent spoke it', async () => {
    await using node = await realNode(ironic, 'tls')
    const apart = comparing(readLifecycle('agent-tls'), node)
    await node.provision('manage')
    await node.settled('manageable')
    await node.provision('clean', manual({ step: 'practice_noop' }))
    await node.reached('clean wait')
    await node.settled('manageable')
    expect(apart('manual clean over TLS')).toEqual([])
  })

  test('service of an active node: a step that works, one that fails, abort', async () => {
    await using node = await availableNode(ironic, 'service')
    const apart = comparing(readLifecycle('agent-service'), node)
    await node.provision('active', install({ ignition }))
    await node.settled('active')
    apart('one in-band service step')

    await node.provision('service', service('practice_noop'))
    await node.reached('service wait')
    await node.settled('active')
    expect(apart('one in-band service step')).toEqual([])

    await node.provision('service', service('practice_fail', { message: 'no luck' }))
    expect(await node.settled('service failed')).toMatchObject({ last_error: expect.stringContaining('no luck') })
    expect(apart('a service step that fails, then abort')).toEqual([])
    await node.provision('abort')
    await node.settled('active')
  })
})
