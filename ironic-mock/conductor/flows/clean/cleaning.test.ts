import { describe, expect, test } from 'vitest'
import { hours } from '../../../../base/runtime/index.js'
import { manageableNode } from '../../../../test/kit/conductor/scripted-lab.js'
import { CommandFailure, ERASE } from '../../../../test/kit/conductor/scripted-machine.js'
import type { JsonObject } from '../../../../base/wire/index.js'

const SLEEP = {
  step: 'sleep',
  interface: 'deploy',
  priority: 0,
  reboot_requested: false,
  abortable: true,
  argsinfo: { seconds: { description: 'How long.', required: true } },
}

async function manageable(fields: JsonObject = {}, conf = {}) {
  const made = await manageableNode(fields, conf)
  const { script, sent } = made.machine
  script.cleanSteps = [ERASE, { ...ERASE, step: 'erase_devices', priority: 10 }, SLEEP]
  const ran = () => sent.filter(({ name }) => name.includes('execute')).map(({ params }) => params.step as JsonObject)
  return { ...made, ran }
}

describe('automated', () => {
  test('everything with a priority, highest first; the operator may change it', async () => {
    const { lab, uuid, ran } = await manageable({}, { eraseDevicesPriority: 0, eraseDevicesMetadataPriority: 10 })
    const node = await lab.provision(uuid, 'provide', 'available')
    expect(ran()).toEqual([{ ...ERASE, priority: 10, requires_ramdisk: true }])
    expect(node).toMatchObject({ clean_step: {}, power_state: 'power off', maintenance: false })
    expect((await lab.store.history(uuid)).map(({ event }) => event)).toEqual([
      'Automated Cleaning completed successfully with steps=[]',
    ])
  })

  test("the agent's own priorities otherwise", async () => {
    const { lab, uuid, ran } = await manageable()
    await lab.provision(uuid, 'provide', 'available')
    expect(ran().map(({ step }) => step)).toEqual(['erase_devices_metadata', 'erase_devices'])
  })

  test.each([
    ['the node says no', { automated_clean: false }, {}, false],
    ['Ironic says no', {}, { automatedClean: false }, false],
    ['Ironic says no, the node yes', { automated_clean: true }, { automatedClean: false }, true],
  ])('%s', async (_, fields, conf, cleaned) => {
    const { lab, uuid, machine } = await manageable(fields, conf)
    await lab.provision(uuid, 'provide', 'available')
    expect(machine.sent.length > 0).toBe(cleaned)
  })

  test('a step that asks for a reboot is followed by the next one on a new boot', async () => {
    const { lab, uuid, machine, ran } = await manageable()
    machine.script.cleanSteps = [
      { ...ERASE, reboot_requested: true },
      { ...ERASE, step: 'erase_devices', priority: 10 },
    ]
    await lab.provision(uuid, 'provide', 'available')
    expect(ran().map(({ step }) => step)).toEqual(['erase_devices_metadata', 'erase_devices'])
    expect(machine.boots).toEqual(['ramdisk', 'ramdisk'])
  })
})

describe('by hand', () => {
  test('in the order of the user, with arguments, back to manageable', async () => {
    const { lab, uuid, ran } = await manageable()
    const clean_steps = [
      { interface: 'deploy', step: 'sleep', args: { seconds: 3 } },
      { interface: 'deploy', step: 'erase_devices_metadata' },
    ]
    const node = await lab.provision(uuid, 'clean', 'manageable', { clean_steps })
    expect(ran()).toEqual([
      { ...clean_steps[0], abortable: true, priority: 0 },
      { ...clean_steps[1], abortable: true, priority: 99 },
    ])
    expect(
      lab.seen
        .filter((item) => item.node.provision_state.startsWith('clean'))
        .map((item) => item.node.target_provision_state),
    ).not.toContain('available')
    expect(node.driver_internal_info).not.toHaveProperty('declarative_cleaning')
  })

  test.each<[string, JsonObject, string]>([
    [
      'an unknown step',
      { step: 'nosuch' },
      "node does not support this clean step: {'interface': 'deploy', 'step': 'nosuch'}",
    ],
    [
      'an unexpected argument',
      { step: 'erase_devices', args: { unexpected: 1 } },
      "clean step {'interface': 'deploy', 'step': 'erase_devices', 'args': {'unexpected': 1}} has these unexpected arguments: unexpected",
    ],
    [
      'a missing one',
      { step: 'sleep' },
      "clean step {'interface': 'deploy', 'step': 'sleep'} is missing these required arguments: seconds (How long.)",
    ],
  ])('%s fails before anything runs, without maintenance', async (_, step, problem) => {
    const { lab, uuid, ran } = await manageable()
    const node = await lab.provision(uuid, 'clean', 'clean failed', { clean_steps: [{ interface: 'deploy', ...step }] })
    expect(node).toMatchObject({
      last_error: `Node failed to start the first cleaning step: ${problem}`,
      maintenance: false,
      power_state: 'power off',
      target_provision_state: 'manageable',
    })
    expect(ran()).toEqual([])
    expect(await lab.provision(uuid, 'manage', 'manageable')).toMatchObject({ target_provision_state: null })
  })

  test('without the ramdisk only steps that Ironic runs itself', async () => {
    const { lab, uuid, machine } = await manageable()
    const node = await lab.provision(uuid, 'clean', 'clean failed', {
      disable_ramdisk: true,
      clean_steps: [{ interface: 'deploy', step: 'erase_devices' }],
    })
    expect(node.last_error).toBe(
      `Cannot clean node ${uuid}: node does not support this clean step: {'interface': 'deploy', 'step': 'erase_devices'}`,
    )
    expect(machine.boots).toEqual([])
  })

  test('is refused in maintenance', async () => {
    const { lab, uuid } = await manageable()
    await lab.conductor.setMaintenance(uuid, true)
    await expect(lab.conductor.provision(uuid, { target: 'clean', clean_steps: [ERASE] })).rejects.toMatchObject({
      status: 400,
    })
  })
})

test('a step that fails takes the node out of service', async () => {
  const { lab, uuid, machine } = await manageable()
  machine.script.run = () => {
    throw new CommandFailure('no luck', 'CleaningError')
  }
  const node = await lab.provision(uuid, 'provide', 'clean failed')
  const reason = `Clean step deploy.erase_devices_metadata failed on node ${uuid}. no luck`
  expect(node).toMatchObject({
    last_error: reason,
    maintenance: true,
    maintenance_reason: reason,
    fault: 'clean failure',
    clean_step: {},
    power_state: 'power on',
  })
  expect(machine.sent.at(-1)?.name).toBe('log.collect_system_logs')
  await lab.conductor.setMaintenance(uuid, false)
  expect(await lab.provision(uuid, 'manage', 'manageable')).toMatchObject({ fault: null, maintenance_reason: null })
})

test('an agent that cannot be reached at its first heartbeat', async () => {
  const { lab, uuid, machine } = await manageable()
  machine.script.reachable = false
  const node = await lab.provision(uuid, 'provide', 'clean failed')
  expect(node.last_error).toBe(
    `Node failed to start the first cleaning step: Connection to agent failed: Failed to connect to the agent running on node ${uuid} for invoking command clean.get_clean_steps. Error: connection refused`,
  )
  expect(node).toMatchObject({ maintenance: false, power_state: 'power off' })
})

test('an agent that never reports', async () => {
  const { lab, uuid, machine } = await manageable()
  machine.script.silent = true
  const node = await lab.provision(uuid, 'provide', 'clean failed')
  expect(node.last_error).toBe(
    'Timeout reached while cleaning the node. Please check if the ramdisk responsible for the cleaning is running on the node. Failed on step {}.',
  )
  // No step had started, so that the node needs no inspection by an operator.
  expect(await lab.until(uuid, 'clean failed')).toMatchObject({ power_state: 'power off', fault: null })
})

test('an agent that goes silent in a step leaves the machine as it is, out of service', async () => {
  const { lab, uuid, machine } = await manageable()
  machine.script.run = () => lab.clock.sleep(hours(2))
  const node = await lab.provision(uuid, 'provide', 'clean failed')
  expect(node.last_error).toContain("Failed on step {'step': 'erase_devices_metadata'")
  expect(node).toMatchObject({
    fault: 'clean failure',
    maintenance: true,
    maintenance_reason: node.last_error,
    power_state: 'power on',
  })
})

describe('abort', () => {
  const during = async (abortable: boolean) => {
    const made = await manageable()
    const { machine, lab, uuid } = made
    machine.script.cleanSteps = [{ ...ERASE, abortable }]
    let finish = (): void => {}
    machine.script.run = () => new Promise<null>((resolve) => (finish = () => resolve(null)))
    await lab.provision(uuid, 'provide', 'clean wait')
    await lab.until(uuid, (node) => node.clean_step.step !== undefined && node.reservation === null)
    return { ...made, finish: () => finish() }
  }

  test('of a step that may be', async () => {
    const { lab, uuid } = await during(true)
    const node = await lab.provision(uuid, 'abort', 'clean failed')
    expect(node).toMatchObject({
      last_error:
        'By request, the clean operation was aborted during or after the completion of step "deploy.erase_devices_metadata"',
      maintenance: false,
      clean_step: {},
      power_state: 'power off',
    })
    expect(node.driver_internal_info).toMatchObject({ clean_steps: null })
  })

  test('of one that may not is put off to its end', async () => {
    const { lab, uuid, finish } = await during(false)
    const now = await lab.provision(uuid, 'abort', 'clean wait')
    expect(now.clean_step).toMatchObject({ abort_after: true })
    finish()
    expect((await lab.until(uuid, 'clean failed')).last_error).toContain('By request')
  })
})

describe('RAID by the agent', () => {
  const CREATE = { ...ERASE, step: 'create_configuration', interface: 'raid', priority: 0 }
  const DELETE = { ...CREATE, step: 'delete_configuration' }
  const config = {
    logical_disks: [
      { size_gb: 100, raid_level: '1', is_root_volume: true, root_device_hint: { name: '/dev/md/root' } },
      { size_gb: 'MAX', raid_level: '0' },
    ],
  }
  const raid = async (target: JsonObject) => {
    const scene = await manageable({ raid_interface: 'agent' })
    scene.machine.script.cleanSteps = [CREATE, DELETE]
    await scene.lab.conductor.updateNode(scene.uuid, () => ({ target_raid_config: target }))
    const clean = (step: JsonObject, wanted: 'manageable' | 'clean failed') =>
      scene.lab.provision(scene.uuid, 'clean', wanted, { clean_steps: [{ interface: 'raid', ...step }] })
    return { ...scene, clean }
  }

  test('is kept on the node, and forgotten with it', async () => {
    const { machine, clean } = await raid(config)
    machine.script.run = (step) => (step.step === CREATE.step ? config : null)
    expect(await clean({ step: CREATE.step }, 'manageable')).toMatchObject({
      raid_config: { ...config, last_updated: expect.any(String) as string },
      properties: { local_gb: 100, root_device: { name: '/dev/md/root' }, capabilities: 'raid_level:1' },
    })
    const after = await clean({ step: DELETE.step }, 'manageable')
    expect(after.raid_config).toEqual({})
    expect(after.properties).not.toHaveProperty('root_device')
  })

  test.each<[string, JsonObject, string]>([['nothing to make', {}, 'has no target RAID configuration.']])(
    '%s',
    async (_, target, problem) => {
      const { uuid, clean } = await raid(target)
      expect(await clean({ step: CREATE.step }, 'clean failed')).toMatchObject({
        fault: 'clean failure',
        last_error: expect.stringMatching(
          new RegExp(`^Node ${uuid} failed step .*: Node ${uuid} ${problem}$`),
        ) as string,
      })
    },
  )

  test('an agent that does not say what it made', async () => {
    const { clean } = await raid(config)
    expect((await clean({ step: CREATE.step }, 'clean failed')).last_error).toContain(
      "Agent ramdisk didn't return a proper command result while building RAID",
    )
  })

  test('its steps are there only where the node leaves RAID to the agent', async () => {
    const { lab, uuid, machine } = await manageable({ raid_interface: 'no-raid' })
    machine.script.cleanSteps = [CREATE]
    const clean_steps = [{ interface: 'raid', step: CREATE.step }]
    expect((await lab.provision(uuid, 'clean', 'clean failed', { clean_steps })).last_error).toContain(
      'node does not support this clean step',
    )
  })
})

test("the operator's priorities go before everybody's, 0 leaves a step out", async () => {
  const { lab, uuid, ran } = await manageable(
    {},
    { cleanStepPriorityOverride: { 'deploy.erase_devices': 200, 'deploy.erase_devices_metadata': 0 } },
  )
  await lab.provision(uuid, 'provide', 'available')
  expect(ran().map(({ step }) => step)).toEqual(['erase_devices'])
})

test('a step that the operator forbids is refused by hand and left out otherwise', async () => {
  const { lab, uuid, ran } = await manageable({}, { disallowCleanSteps: ['deploy.erase_devices'] })
  await expect(
    lab.conductor.provision(uuid, { target: 'clean', clean_steps: [{ interface: 'deploy', step: 'erase_devices' }] }),
  ).rejects.toMatchObject({
    status: 400,
    message:
      "clean step 'deploy.erase_devices' is not allowed. Disallowed by operator configuration [api]disallow_clean_steps.",
  })
  await lab.provision(uuid, 'provide', 'available')
  expect(ran().map(({ step }) => step)).toEqual(['erase_devices_metadata'])
})
