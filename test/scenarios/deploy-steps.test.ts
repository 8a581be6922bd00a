import { expect, test } from 'vitest'
import { createStagedLab, installCoreos, type StagedLab, type StagedNode } from '../../lab/index.js'
import { defined, minutes } from '../../base/runtime/index.js'
import { isExchange, type JsonObject, type RequestedStep } from '../../base/wire/index.js'
import { configdrive, ignition, machineOf, readDisk } from '../kit/deployed.js'

const step = (name: string, priority: number, args: JsonObject = {}): RequestedStep => ({
  interface: 'deploy',
  step: name,
  priority,
  args,
})

async function send(lab: StagedLab, method: string, path: string, body?: unknown): Promise<JsonObject> {
  const { status, body: text } = await lab.transport.send({
    method,
    url: lab.url + path,
    headers: { 'x-openstack-ironic-api-version': '1.115' },
    ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
  })
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
  return text ? (JSON.parse(text) as JsonObject) : {}
}

async function available(lab: StagedLab, fields: JsonObject = {}): Promise<StagedNode> {
  const node = await lab.enroll({ fields: { automated_clean: false, deploy_interface: 'custom-agent', ...fields } })
  await node.makeAvailable()
  return node
}

test('a template that the instance names by a trait installs, without steps in the request', async () => {
  await using lab = await createStagedLab({ disks: 'file' })
  const node = await available(lab)
  const install = { ...installCoreos({ ignition, append_karg: ['from=template'] }) }
  await send(lab, 'POST', '/v1/deploy_templates', { name: 'CUSTOM_INSTALL', steps: [install] })
  await send(lab, 'PUT', `/v1/nodes/${node.uuid}/traits/CUSTOM_INSTALL`)
  const traits = [{ op: 'add', path: '/instance_info/traits', value: ['CUSTOM_INSTALL'] }] as const
  await lab.client.patchNode(node.uuid, traits)
  await node.provision('active')
  expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
  expect((await machineOf(node)).firstBoot()?.kernelArguments).toContain('from=template')
  expect((await machineOf(node)).firstBoot()?.configDigest).not.toBeNull()

  // The request's own step of the same name goes before the template's.
  await node.provision('deleted')
  await node.settled()
  await lab.client.patchNode(node.uuid, traits)
  await node.provision('active', { deploy_steps: [installCoreos({ ignition, append_karg: ['from=request'] })] })
  await node.settled()
  const { kernelArguments } = (await machineOf(node)).firstBoot()!
  expect(kernelArguments).toContain('from=request')
  expect(kernelArguments).not.toContain('from=template')
})

test('a deployment is held after the installation, looked at, and let go', async () => {
  await using lab = await createStagedLab({ disks: 'file' })
  const node = await available(lab)
  await node.provision('active', { deploy_steps: [installCoreos(), step('hold', 70)], configdrive })
  const held = await node.until(({ provision_state, reservation }) => provision_state === 'deploy hold' && !reservation)
  expect(held).toMatchObject({
    deploy_step: { step: 'hold' },
    target_provision_state: 'active',
    power_state: 'power on',
  })
  // The ramdisk is still there, with the installed disk beside it.
  const machine = await machineOf(node)
  expect(machine.boot()).toMatchObject({ outcome: 'ramdisk' })
  expect((await readDisk(lab, node)).boot?.firstBoot).toBe(true)
  const begun = lab.clock.elapsed()
  await lab.clock.advance(minutes(90))
  expect((await node.get()).provision_state).toBe('deploy hold')

  await node.provision('unhold')
  expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
  expect(lab.clock.elapsed() - begun).toBeLessThan(minutes(100))
  expect(machine.firstBoot()).toMatchObject({ hostname: 'worker-0', failure: null })
})

test('a pause and a reboot between the steps', async () => {
  await using lab = await createStagedLab()
  const node = await available(lab)
  const boots: string[] = []
  lab.events.listen((event) => {
    if (event.kind === 'ramdisk-up') boots.push(event.machine)
  })
  const deploy_steps = [step('reboot', 95), step('wait', 90, { seconds: 10 }), installCoreos({ ignition })]
  await node.provision('active', { deploy_steps })
  expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
  expect(boots).toHaveLength(2)
})

test('a runbook that the node is approved for cleans it', async () => {
  await using lab = await createStagedLab()
  const node = await lab.enroll({ fields: { automated_clean: false } })
  const executed: string[] = []
  lab.probe.attach((point, next) => {
    const text = isExchange(point) && point.to === 'agent' && point.side === 'client' ? point.request.body : undefined
    if (text?.includes('execute_clean_step'))
      executed.push((JSON.parse(text) as { params: { step: { step: string } } }).params.step.step)
    return next()
  })
  await node.provision('manage')
  await node.settled()
  const steps = [
    { interface: 'power', step: 'power_on', args: {}, order: 2 },
    { interface: 'deploy', step: 'erase_devices_metadata', args: {}, order: 1 },
  ]
  const { uuid } = await send(lab, 'POST', '/v1/runbooks', { name: 'CUSTOM_WIPE', steps })
  await send(lab, 'PUT', `/v1/runbooks/${String(uuid)}/traits`, { traits: ['CUSTOM_WIPE'] })
  await send(lab, 'PUT', `/v1/nodes/${node.uuid}/traits/CUSTOM_WIPE`)
  await send(lab, 'PUT', `/v1/nodes/${node.uuid}/states/provision`, { target: 'clean', runbook: uuid })
  expect(await node.settled()).toMatchObject({ provision_state: 'manageable', last_error: null })
  expect(executed).toEqual(['erase_devices_metadata'])
})
