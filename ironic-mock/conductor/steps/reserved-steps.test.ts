import { describe, expect, test } from 'vitest'
import { ScriptedLab } from '../../../test/kit/conductor/scripted-lab.js'
import { ERASE, INSTALL_COREOS } from '../../../test/kit/conductor/scripted-machine.js'
import { seconds } from '../../../base/runtime/index.js'
import type { JsonObject } from '../../../base/wire/index.js'
import type { ConductorConf } from '../core/conductor-conf.js'

const INSTALL = { interface: 'deploy', step: 'install_coreos', priority: 80, args: {} }
const reserved = (step: string, priority: number, args: JsonObject = {}): JsonObject => ({
  interface: 'deploy',
  step,
  priority,
  args,
})

async function available(conf: Partial<ConductorConf> = {}, fields: JsonObject = {}) {
  const lab = await ScriptedLab.open({ conf })
  const { uuid, machine } = await lab.enroll({ automated_clean: false, ...fields })
  await lab.provision(uuid, 'manage', 'manageable')
  await lab.provision(uuid, 'provide', 'available')
  return { lab, uuid, machine, sent: () => machine.sent.map(({ name }) => name) }
}

describe('in a deployment', () => {
  test.each([
    ['after a step of the agent', 70, 2],
    ['before the first', 90, 1],
  ])('hold keeps the node until it is let go: %s', async (_, priority, before) => {
    const { lab, uuid, machine, sent } = await available()
    const deploy_steps = [INSTALL, reserved('hold', priority)]
    const held = await lab.provision(uuid, 'active', 'deploy hold', { deploy_steps })
    expect(held).toMatchObject({ reservation: null, target_provision_state: 'active', deploy_step: { step: 'hold' } })
    expect(sent()).toHaveLength(before)
    // Heartbeats are written down and nothing else.
    await machine.heartbeat()
    expect(await lab.node(uuid)).toMatchObject({ provision_state: 'deploy hold' })
    expect(await lab.store.deadlines()).toEqual([])

    await lab.provision(uuid, 'unhold', 'wait call-back')
    await machine.heartbeat()
    await lab.until(uuid, 'active')
    expect(sent()).toEqual(['deploy.get_deploy_steps', 'deploy.execute_deploy_step', 'standby.power_off'])
  })

  test('a hold before the ramdisk is booted continues as soon as it is let go', async () => {
    const { lab, uuid } = await available()
    await lab.provision(uuid, 'active', 'deploy hold', { deploy_steps: [INSTALL, reserved('hold', 110)] })
    expect(await lab.provision(uuid, 'unhold', 'active')).toMatchObject({ last_error: null })
  })

  test.each([{}, { abortable: true }])('a held deployment that is aborted is torn down: step with %j', async (more) => {
    const { lab, uuid } = await available({}, { instance_info: { image_source: 'http://images.example/disk.raw' } })
    const deploy_steps = [INSTALL, { ...reserved('hold', 70), ...more }]
    await lab.provision(uuid, 'active', 'deploy hold', { deploy_steps })
    const aborted = await lab.provision(uuid, 'abort', 'deploy failed')
    expect(aborted).toMatchObject({
      target_provision_state: 'active',
      power_state: 'power off',
      instance_info: {},
      last_error:
        "Async execution of _do_node_tear_down failed with error: Can not transition from state 'deploy failed' on event 'clean' (no defined transition)",
    })
    expect(aborted.driver_internal_info).not.toHaveProperty('agent_url')
    expect(await lab.provision(uuid, 'deleted', 'available')).toMatchObject({ last_error: null })
  })

  test('a held deployment whose machine cannot be switched off says so when it is aborted', async () => {
    const { lab, uuid, machine } = await available()
    await lab.provision(uuid, 'active', 'deploy hold', { deploy_steps: [INSTALL, reserved('hold', 70)] })
    machine.failing = 'the BMC does not answer'
    expect(await lab.provision(uuid, 'abort', 'deploy failed')).toMatchObject({
      last_error: expect.stringMatching(/^Failed to tear down: /),
    })
  })

  test('wait pauses for the seconds that it says, and no longer than is allowed', async () => {
    const { lab, uuid } = await available({ maxWaitStep: seconds(20) })
    const begun = lab.clock.elapsed()
    await lab.provision(uuid, 'active', 'active', {
      deploy_steps: [INSTALL, reserved('wait', 75, { seconds: 7 }), reserved('wait', 70, { seconds: 600 })],
    })
    expect(lab.clock.elapsed() - begun).toBeGreaterThanOrEqual(seconds(27))
    expect(lab.clock.elapsed() - begun).toBeLessThan(seconds(60))
    expect((await lab.store.history(uuid)).map(({ event }) => event)).toContain(
      'A wait time exceeding the configured maximum has been requested. Holding for 600, got 20.',
    )
  })

  test('wait without them is over when the agent reports next', async () => {
    const { lab, uuid, machine } = await available()
    const deploy_steps = [INSTALL, reserved('wait', 70)]
    await lab.clock.until(lab.conductor.provision(uuid, { target: 'active', deploy_steps }))
    await lab.until(uuid, (node) => node.deploy_step.step === 'wait' && node.reservation === null)
    await machine.heartbeat()
    expect(await lab.until(uuid, 'active')).toMatchObject({ deploy_step: {} })
  })

  test('after a reboot the next step is sent when the new ramdisk reports', async () => {
    const { lab, uuid, machine, sent } = await available()
    await lab.provision(uuid, 'active', 'active', { deploy_steps: [INSTALL, reserved('reboot', 90)] })
    expect(machine.boots).toEqual(['ramdisk', 'ramdisk', 'disk'])
    expect(sent()).toEqual([
      'deploy.get_deploy_steps',
      'deploy.get_deploy_steps',
      'deploy.execute_deploy_step',
      'standby.power_off',
    ])
  })

  test('a priority of 0 takes a step out, the driver’s too', async () => {
    const { lab, uuid, sent } = await available()
    await lab.provision(uuid, 'active', 'active', {
      deploy_steps: [INSTALL, reserved('hold', 0), reserved('tear_down_agent', 0)],
    })
    expect(sent()).toEqual(['deploy.get_deploy_steps', 'deploy.execute_deploy_step'])
  })

  test('dropped, as by Ironic 39.0.0', async () => {
    const { lab, uuid } = await available({ dropReservedSteps: true })
    await lab.provision(uuid, 'active', 'active', { deploy_steps: [INSTALL, reserved('hold', 70)] })
    expect(lab.states(uuid)).not.toContain('deploy hold')
  })
})

describe('steps for child nodes', () => {
  async function parent() {
    const lab = await ScriptedLab.open({ conf: { fakeHardwareMachines: true } })
    const { uuid, machine } = await lab.enroll({})
    machine.script.cleanSteps = [{ ...ERASE, priority: 0 }]
    await lab.provision(uuid, 'manage', 'manageable')
    const children = []
    for (const digit of [2, 3]) {
      const child = await lab.enroll({ parent_node: uuid }, `52:54:00:00:00:0${digit}`)
      await lab.provision(child.uuid, 'manage', 'manageable')
      children.push(child)
    }
    return { lab, uuid, children }
  }
  const onChildren = (step: string, more: JsonObject = {}): JsonObject => ({
    interface: 'power',
    step,
    execute_on_child_nodes: true,
    ...more,
  })

  test('run on all of them, or on those that are named', async () => {
    const { lab, uuid, children } = await parent()
    await lab.provision(uuid, 'clean', 'manageable', { clean_steps: [onChildren('power_on')] })
    expect(children.map(({ machine }) => machine.state)).toEqual(['power on', 'power on'])
    expect(await lab.node(children[0]!.uuid)).toMatchObject({ power_state: 'power on', reservation: null })
    const limited = onChildren('power_off', { limit_child_node_execution: [children[1]!.uuid] })
    await lab.provision(uuid, 'clean', 'manageable', { clean_steps: [limited] })
    expect(children.map(({ machine }) => machine.state)).toEqual(['power on', 'power off'])
  })

  test.each([
    ['a child that cannot', 'power_on', /the BMC is on fire/],
    ['what a child would wait for', 'hold', /Can not transition from state 'manageable' on event 'hold'/],
    ['a step that a child has not', 'nosuch', /has no step power.nosuch of its own/],
  ])('%s fails the parent’s step', async (_, step, error) => {
    const { lab, uuid, children } = await parent()
    children[1]!.machine.failing = 'the BMC is on fire'
    const node = await lab.provision(uuid, 'clean', 'clean failed', { clean_steps: [onChildren(step)] })
    expect(node.last_error).toMatch(error)
  })
})

describe('deploy templates', () => {
  const template = (name: string, steps: JsonObject[]) => ({
    uuid: `00000000-0000-4000-8000-00000000000${name.at(-1)}`,
    created_at: '2026',
    updated_at: null,
    name,
    steps: steps as never,
    extra: {},
  })

  test('named by the instance’s traits add their steps; the user’s go before', async () => {
    const { lab, uuid, machine } = await available({}, { traits: ['CUSTOM_1', 'CUSTOM_2', 'CUSTOM_3'] })
    machine.script.deploySteps = [INSTALL_COREOS, { ...INSTALL_COREOS, step: 'other', argsinfo: { a: {} } }]
    const other = { interface: 'deploy', step: 'other', args: { a: 1 }, priority: 85 }
    await lab.store.createResource('deploy_template', template('CUSTOM_1', [{ ...INSTALL, priority: 70 }]))
    await lab.store.createResource('deploy_template', template('CUSTOM_2', [other]))
    await lab.store.createResource('deploy_template', template('CUSTOM_3', [reserved('hold', 50)]))
    await lab.conductor.updateNode(uuid, () => ({ instance_info: { traits: ['CUSTOM_2', 'CUSTOM_1'] } }))
    await lab.provision(uuid, 'active', 'active', { deploy_steps: [INSTALL] })
    expect(machine.sent.filter(({ name }) => name.includes('execute')).map(({ params }) => params.step)).toEqual([
      other,
      INSTALL,
    ])
  })

  test.each<[string, JsonObject, string]>([
    [
      'a trait that the node has not',
      { traits: ['CUSTOM_9'] },
      'Cannot specify instance traits that are not also set on the node. Node U is missing traits CUSTOM_9',
    ],
    [
      'no list of traits',
      { traits: 'CUSTOM_1' },
      'Error parsing traits from Node U instance_info field. A list of strings is expected.',
    ],
    [
      'a core step',
      { traits: ['CUSTOM_1'] },
      "Validation of deploy steps from deploy templates matching this node's instance traits failed. Matching deploy templates: CUSTOM_1. Errors: deploy step deploy on interface deploy is a core step and cannot be overridden by user steps. It may be disabled by setting the priority to 0",
    ],
    [
      'the same step twice',
      { traits: ['CUSTOM_2', 'CUSTOM_3'] },
      "Validation of deploy steps from deploy templates matching this node's instance traits failed. Matching deploy templates: CUSTOM_2,CUSTOM_3. Errors: deploy steps from all deploy templates matching this node's instance traits cannot have the same interface and step. Duplicate deploy steps for deploy.tear_down_agent",
    ],
  ])('are refused at once: %s', async (_, instance_info, problem) => {
    const { lab, uuid } = await available({}, { traits: ['CUSTOM_1', 'CUSTOM_2', 'CUSTOM_3'] })
    const step = reserved('tear_down_agent', 40)
    await lab.store.createResource('deploy_template', template('CUSTOM_1', [reserved('deploy', 90)]))
    await lab.store.createResource('deploy_template', template('CUSTOM_2', [step]))
    await lab.store.createResource('deploy_template', template('CUSTOM_3', [step]))
    await lab.conductor.updateNode(uuid, () => ({ instance_info }))
    await expect(lab.conductor.provision(uuid, { target: 'active' })).rejects.toMatchObject({
      status: 400,
      message: `Failed to validate deploy or power info for node ${uuid}: ${problem.replaceAll('Node U', `Node ${uuid}`)}`,
    })
    expect((await lab.conductor.validate(uuid)).deploy).toEqual({
      result: false,
      reason: problem.replaceAll('Node U', `Node ${uuid}`),
    })
  })

  test('with an unknown step fail when the agent has been asked', async () => {
    const { lab, uuid } = await available({}, { traits: ['CUSTOM_1'] })
    const nosuch = { interface: 'deploy', step: 'nosuch', args: {}, priority: 70 }
    await lab.store.createResource('deploy_template', template('CUSTOM_1', [nosuch]))
    await lab.conductor.updateNode(uuid, () => ({ instance_info: { traits: ['CUSTOM_1'] } }))
    expect(await lab.provision(uuid, 'active', 'deploy failed')).toMatchObject({
      last_error: expect.stringContaining(
        "Matching deploy templates: CUSTOM_1. Errors: node does not support this deploy step: {'interface': 'deploy', 'step': 'nosuch', 'args': {}, 'priority': 70}",
      ) as string,
    })
  })
})
