import { describe, expect, test } from 'vitest'
import { ScriptedLab } from '../../../../test/kit/conductor/scripted-lab.js'
import { CommandFailure, INSTALL_COREOS } from '../../../../test/kit/conductor/scripted-machine.js'
import { minutes } from '../../../../base/runtime/index.js'
import type { JsonObject } from '../../../../base/wire/index.js'

const STEP = { interface: 'deploy', step: 'install_coreos', priority: 80, args: {} }

/** A node that is ready to be deployed; cleaning is another story. */
async function available(fields: JsonObject = {}, conf = {}) {
  const lab = await ScriptedLab.open({ conf })
  const { uuid, machine } = await lab.enroll({ automated_clean: false, ...fields })
  await lab.provision(uuid, 'manage', 'manageable')
  await lab.provision(uuid, 'provide', 'available')
  return { lab, uuid, machine, sent: () => machine.sent.map(({ name }) => name) }
}

test('the step gets the configdrive in clear, everything else gets it masked', async () => {
  const { lab, uuid, machine } = await available()
  const configdrive = { user_data: { ignition: { version: '3.2.0' } } }
  await lab.provision(uuid, 'active', 'active', { deploy_steps: [STEP], configdrive })
  const seen = machine.sent.map(({ name, params }) => [
    name,
    ((params.node as JsonObject | undefined)?.instance_info as JsonObject | undefined)?.configdrive,
  ])
  expect(seen).toEqual([
    ['deploy.get_deploy_steps', '******'],
    ['deploy.execute_deploy_step', configdrive],
    ['standby.power_off', undefined],
  ])
  const { params } = machine.sent[1]!
  expect(params).toMatchObject({
    step: STEP,
    deploy_version: { CoreOS: '1' },
    ports: [{ address: machine.mac, node_uuid: uuid }],
    node: {
      uuid,
      provision_state: 'deploying',
      driver_internal_info: { agent_secret_token: '******' },
      traits: { objects: [] },
    },
  })
})

test('driver_internal_info while deploying and after is as recorded', async () => {
  const { lab, uuid, machine } = await available()
  let during: JsonObject = {}
  machine.script.run = async () => void (during = (await lab.node(uuid)).driver_internal_info)
  const { driver_internal_info: after, instance_info } = await lab.provision(uuid, 'active', 'active', {
    deploy_steps: [STEP],
    configdrive: 'http://192.0.2.1/cd.gz',
  })
  const core = (step: string, priority: number) => ({
    step,
    priority,
    abortable: true,
    argsinfo: null,
    interface: 'deploy',
  })
  expect(during).toMatchObject({
    deploy_steps: [
      core('deploy', 100),
      STEP,
      core('prepare_instance_boot', 60),
      core('tear_down_agent', 40),
      core('switch_to_tenant_network', 30),
      core('boot_instance', 20),
    ],
    user_deploy_steps: [STEP],
    deploy_step_index: 1,
    steps_validated: true,
    agent_cached_deploy_steps: { deploy: [INSTALL_COREOS] },
  })
  expect(Object.keys(after).sort()).toEqual([
    'agent_cached_deploy_steps_refreshed',
    'agent_last_heartbeat',
    'agent_version',
    // Not in the recording, whose boot interface is fake.
    'deploy_boot_mode',
    'deploy_steps',
    'hardware_manager_version',
    'last_power_state_change',
  ])
  expect(after.deploy_steps).toBeNull()
  expect(instance_info).toEqual({ configdrive: 'http://192.0.2.1/cd.gz' })
})

describe('without deploy_steps install_coreos never runs', () => {
  test('active', async () => {
    const { lab, uuid, sent } = await available()
    await lab.provision(uuid, 'active', 'active')
    expect(sent()).toEqual(['deploy.get_deploy_steps', 'standby.power_off'])
  })

  test('rebuild of a node that was deployed with it', async () => {
    const { lab, uuid, machine, sent } = await available()
    await lab.provision(uuid, 'active', 'active', { deploy_steps: [STEP] })
    machine.sent = []
    await lab.provision(uuid, 'rebuild', 'active')
    expect(sent()).toEqual(['deploy.get_deploy_steps', 'standby.power_off'])
  })

  test('rebuild with it asks for it again', async () => {
    const { lab, uuid, machine, sent } = await available()
    await lab.provision(uuid, 'active', 'active')
    machine.sent = []
    await lab.provision(uuid, 'rebuild', 'active', { deploy_steps: [STEP] })
    expect(sent()).toContain('deploy.execute_deploy_step')
  })
})

describe('last_error names the failure', () => {
  test.each<[string, JsonObject[], string]>([
    [
      'an unknown step',
      [{ ...STEP, step: 'nosuch' }],
      "Validation of deploy steps from \"deploy steps\" argument failed.node does not support this deploy step: {'interface': 'deploy', 'step': 'nosuch', 'priority': 80, 'args': {}}",
    ],
    [
      'an argument that the step does not have',
      [{ ...STEP, args: { ignition: 1 } }],
      "Validation of deploy steps from \"deploy steps\" argument failed.deploy step {'interface': 'deploy', 'step': 'install_coreos', 'priority': 80, 'args': {'ignition': 1}} has these unexpected arguments: ignition",
    ],
  ])('after a request with %s', async (_, deploy_steps, problem) => {
    const { lab, uuid, sent } = await available()
    const node = await lab.provision(uuid, 'active', 'deploy failed', { deploy_steps })
    expect(node).toMatchObject({
      last_error: `Failed to validate the final deploy steps list for node ${uuid}: ${problem}`,
      target_provision_state: 'active',
      deploy_step: {},
      maintenance: false,
      power_state: 'power on',
    })
    expect(sent()).toEqual(['deploy.get_deploy_steps'])
  })

  test('a required argument that is missing', async () => {
    const { lab, uuid, machine } = await available()
    const argsinfo = { image: { description: 'what to write', required: true } }
    machine.script.deploySteps = [{ ...INSTALL_COREOS, argsinfo }]
    const node = await lab.provision(uuid, 'active', 'deploy failed', { deploy_steps: [STEP] })
    expect(node.last_error).toContain('is missing these required arguments: image (what to write)')
  })

  test('a step that fails: its details, logs fetched, a retry works', async () => {
    const { lab, uuid, machine, sent } = await available()
    machine.script.run = () => {
      throw new CommandFailure('coreos-installer failed with code 1: Error: no such image')
    }
    const node = await lab.provision(uuid, 'active', 'deploy failed', { deploy_steps: [STEP] })
    expect(node.last_error).toBe(
      `Deploy step deploy.install_coreos failed on node ${uuid}. coreos-installer failed with code 1: Error: no such image`,
    )
    expect(node).toMatchObject({ deploy_step: {}, maintenance: false, fault: null, power_state: 'power on' })
    expect(node.driver_internal_info).not.toHaveProperty('agent_url')
    expect(sent().at(-1)).toBe('log.collect_system_logs')
    expect((await lab.store.history(uuid)).at(-1)).toMatchObject({
      severity: 'ERROR',
      event_type: 'deploying',
      state: 'wait call-back',
      target_provision_state: 'active',
    })
    machine.script.run = () => null
    expect(await lab.provision(uuid, 'active', 'active', { deploy_steps: [STEP] })).toMatchObject({ last_error: null })
  })

  test('an agent that never reports', async () => {
    const { lab, uuid, machine } = await available()
    machine.script.silent = true
    const begun = lab.clock.elapsed()
    const node = await lab.provision(uuid, 'active', 'deploy failed', { deploy_steps: [STEP] })
    expect(node.last_error).toBe(`Timeout reached while waiting for callback for node ${uuid}`)
    expect(lab.clock.elapsed() - begun).toBe(minutes(30) + 1)
  })

  test('a BMC that stops answering', async () => {
    const { lab, uuid, machine } = await available()
    machine.failing = 'the BMC is on fire'
    const node = await lab.provision(uuid, 'active', 'deploy failed', { deploy_steps: [STEP] })
    expect(node.last_error).toBe('Failed to prepare to deploy: the BMC is on fire')
  })
})

test('heartbeats of a step that takes its time put the time limit off', async () => {
  const { lab, uuid, machine } = await available()
  machine.script.run = async () => {
    for (let quarter = 0; quarter < 5; quarter++) {
      await lab.clock.sleep(minutes(15))
      await machine.heartbeat()
    }
  }
  expect(await lab.provision(uuid, 'active', 'active', { deploy_steps: [STEP] })).toMatchObject({ last_error: null })
})

test('an agent with an empty list in the middle of a step: the next step, and a warning; refused when strict', async () => {
  for (const strictSteps of [false, true]) {
    const { lab, uuid, machine } = await available({}, { strictSteps })
    machine.script.run = async () => {
      machine.commands = []
      await machine.heartbeat()
      return new Promise(() => {})
    }
    const node = await lab.provision(uuid, 'active', strictSteps ? 'deploy failed' : 'active', { deploy_steps: [STEP] })
    if (strictSteps) expect(node.last_error).toContain('its outcome is unknown')
    else expect(lab.warnings.join()).toContain('going on with the next one')
  }
})

test('an agent busy with something else gets the step at a later heartbeat', async () => {
  const { lab, uuid, machine, sent } = await available()
  const answer = machine.dispatch
  let refused = false
  machine.dispatch = (request) => {
    if (refused || !request.body?.includes('execute_deploy_step')) return answer(request)
    refused = true
    const body = JSON.stringify({ faultcode: 'Client', faultstring: 'Agent is busy: executing command other' })
    return Promise.resolve({ status: 409, headers: {}, body })
  }
  await lab.clock.until(lab.conductor.provision(uuid, { target: 'active', deploy_steps: [STEP] }))
  await lab.until(
    uuid,
    (node) => node.driver_internal_info.skip_current_deploy_step === false && node.reservation === null,
  )
  await machine.heartbeat()
  const node = await lab.until(uuid, 'active')
  expect(node.driver_internal_info).not.toHaveProperty('skip_current_deploy_step')
  expect(sent()).toContain('deploy.execute_deploy_step')
})

test('managers that changed during the work: the steps are read again and the step is sent again', async () => {
  const { lab, uuid, machine, sent } = await available()
  machine.changeManagers()
  await lab.provision(uuid, 'active', 'active', { deploy_steps: [STEP] })
  expect(sent()).toEqual([
    'deploy.get_deploy_steps',
    'deploy.execute_deploy_step',
    'deploy.get_deploy_steps',
    'deploy.execute_deploy_step',
    'standby.power_off',
  ])
})

test('an agent that reports and cannot be asked about its step fails the deployment', async () => {
  const { lab, uuid, machine } = await available()
  machine.script.run = () => {
    machine.script.reachable = false
    return null
  }
  const node = await lab.provision(uuid, 'active', 'deploy failed', { deploy_steps: [STEP] })
  expect(node.last_error).toMatch(
    new RegExp(
      `^Failed to process the next deploy step: Connection to agent failed: Failed to connect to the agent running on node ${uuid} to collect commands status\\. Error: `,
    ),
  )
  expect(await lab.until(uuid, ({ reservation }) => reservation === null)).toMatchObject({ power_state: 'power off' })
})

describe('RAID that the agent makes within a deployment', () => {
  const APPLY = { interface: 'raid', step: 'apply_configuration', priority: 85, args: { raid_config: {} } }
  const disk = { size_gb: 100, raid_level: '1', is_root_volume: true, root_device_hint: { name: '/dev/md/root' } }
  const deployed = async (result: unknown, wanted: 'active' | 'deploy failed') => {
    const scene = await available({ raid_interface: 'agent' })
    scene.machine.script.deploySteps = [
      INSTALL_COREOS,
      { ...INSTALL_COREOS, interface: 'raid', step: 'apply_configuration', argsinfo: { raid_config: {} } },
    ]
    scene.machine.script.run = ({ interface: of }) => (of === 'raid' ? result : null)
    return scene.lab.provision(scene.uuid, 'active', wanted, { deploy_steps: [APPLY, STEP] })
  }

  test('is what the node has from then on, and what is deployed to', async () => {
    const config = { logical_disks: [disk, { size_gb: 'MAX', raid_level: '0' }] }
    expect(await deployed(config, 'active')).toMatchObject({
      raid_config: { ...config, last_updated: expect.any(String) as string },
      properties: { local_gb: 100, root_device: { name: '/dev/md/root' }, capabilities: 'raid_level:1' },
    })
  })

  test('fails the deployment where the agent does not tell what it made', async () => {
    expect((await deployed(null, 'deploy failed')).last_error).toContain(
      "post deploy step hook _create_configuration_final failed for deploy step {'interface': 'raid', 'step': 'apply_configuration'",
    )
  })
})

describe('in wait call-back', () => {
  const waiting = async () => {
    const made = await available()
    made.machine.script.silent = true
    await made.lab.provision(made.uuid, 'active', 'wait call-back', { deploy_steps: [STEP] })
    return made
  }

  test('abort', async () => {
    const { lab, uuid } = await waiting()
    const node = await lab.provision(uuid, 'abort', 'deploy failed')
    expect(node).toMatchObject({
      last_error: 'By request, the deploy operation was aborted during or after the completion of step "deploy.deploy"',
      target_provision_state: 'active',
      power_state: 'power on',
    })
    expect(node.driver_internal_info).toMatchObject({ deploy_steps: null })
    expect(node.driver_internal_info).not.toHaveProperty('user_deploy_steps')
    expect(await lab.store.deadlines()).toEqual([])
  })

  test('deleted', async () => {
    const { lab, uuid, machine } = await waiting()
    expect(await lab.provision(uuid, 'deleted', 'available')).toMatchObject({
      instance_info: {},
      power_state: 'power off',
      // Upstream forgets it only with the next deployment.
      deploy_step: { step: 'deploy' },
    })
    expect(machine.state).toBe('power off')
  })

  test('active and manage are refused', async () => {
    const { lab, uuid } = await waiting()
    for (const target of ['active', 'manage'])
      await expect(lab.conductor.provision(uuid, { target })).rejects.toMatchObject({
        status: 400,
        message: `The requested action "${target}" can not be performed on node "${uuid}" while it is in state "wait call-back".`,
      })
  })
})

test('undeploying forgets the instance', async () => {
  const { lab, uuid } = await available()
  await lab.conductor.updateNode(uuid, (node) => ({
    instance_uuid: 'd0000000-0000-4000-8000-000000000009',
    instance_info: { ...node.instance_info, image_source: 'http://192.0.2.1/i' },
  }))
  const active = await lab.provision(uuid, 'active', 'active')
  expect(active.instance_info).toMatchObject({ image_type: 'whole-disk' })
  expect(active.driver_internal_info).toMatchObject({ is_whole_disk_image: true })
  const gone = await lab.provision(uuid, 'deleted', 'available')
  expect(gone).toMatchObject({ instance_info: {}, instance_uuid: null, power_state: 'power off' })
  expect(gone.driver_internal_info).not.toHaveProperty('is_whole_disk_image')
})

test('a protected node and one in maintenance are left alone', async () => {
  const { lab, uuid } = await available()
  await lab.provision(uuid, 'active', 'active')
  await lab.conductor.updateNode(uuid, () => ({ protected: true }))
  for (const target of ['deleted', 'rebuild'])
    await expect(lab.conductor.provision(uuid, { target })).rejects.toMatchObject({ status: 403 })
  await lab.conductor.updateNode(uuid, () => ({ protected: false }))
  await lab.conductor.setMaintenance(uuid, true, 'm')
  await expect(lab.conductor.provision(uuid, { target: 'rebuild' })).rejects.toMatchObject({ status: 400 })
})
