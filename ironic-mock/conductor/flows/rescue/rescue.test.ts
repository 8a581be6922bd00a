import { expect, test } from 'vitest'
import { ScriptedLab } from '../../../../test/kit/conductor/scripted-lab.js'
import type { ConductorConf } from '../../core/conductor-conf.js'
import { shaCrypt } from './sha-crypt.js'

const INSTALL = { interface: 'deploy', step: 'install_coreos', args: {}, priority: 80 }

async function active(rescue_interface = 'agent', conf: Partial<ConductorConf> = {}) {
  const lab = await ScriptedLab.open({ conf: { automatedClean: false, ...conf } })
  const { uuid, machine } = await lab.enroll({ boot_interface: 'redfish-virtual-media', rescue_interface })
  await lab.provision(uuid, 'manage', 'manageable')
  await lab.provision(uuid, 'provide', 'available')
  await lab.provision(uuid, 'active', 'active', { deploy_steps: [INSTALL] })
  machine.sent = []
  machine.boots = []
  lab.seen.length = 0
  return { lab, uuid, machine }
}
const PASSWORD = { rescue_password: 'open sesame' }

test('a ramdisk with a password, and back', async () => {
  const { lab, uuid, machine } = await active()
  const node = await lab.provision(uuid, 'rescue', 'rescue', PASSWORD)
  expect(lab.states(uuid)).toEqual(['rescuing', 'rescue wait', 'rescuing', 'rescue'])
  expect(machine.sent).toHaveLength(1)
  const { rescue_password: sent, hashed } = machine.sent[0]!.params
  expect({ name: machine.sent[0]!.name, hashed }).toEqual({ name: 'rescue.finalize_rescue', hashed: true })
  expect(sent).toBe(shaCrypt('open sesame', String(sent).split('$')[2]!))
  expect(node.instance_info).not.toHaveProperty('rescue_password')
  expect(node.instance_info).not.toHaveProperty('hashed_rescue_password')

  expect(await lab.provision(uuid, 'unrescue', 'active')).toMatchObject({ power_state: 'power on', last_error: null })
  expect(machine.boots).toEqual(['ramdisk', 'disk'])
})

test('a password hashed as the operator wants', async () => {
  const { lab, uuid, machine } = await active('agent', { rescuePasswordHashAlgorithm: 'sha512' })
  await lab.provision(uuid, 'rescue', 'rescue', PASSWORD)
  const sent = String(machine.sent[0]!.params.rescue_password)
  expect(sent).toMatch(/^\$6\$/)
  expect(sent).toBe(shaCrypt('open sesame', sent.split('$')[2]!, 'sha512'))
})

test.each([
  [true, 'rescue failed', 1],
  [false, 'rescue', 2],
] as const)(
  'an agent that takes no hash, where one is required: %s',
  async (requireRescuePasswordHashed, end, asked) => {
    const { lab, uuid, machine } = await active('agent', { requireRescuePasswordHashed })
    const answer = machine.dispatch
    const passwords: unknown[] = []
    machine.dispatch = async (request) => {
      const { params } = JSON.parse(request.body ?? '{}') as { params?: { hashed?: boolean; rescue_password?: string } }
      if (params) passwords.push(params.rescue_password)
      if (!params?.hashed) return answer(request)
      return { status: 400, headers: {}, body: JSON.stringify({ faultstring: 'unexpected argument: hashed' }) }
    }
    const node = await lab.provision(uuid, 'rescue', end, PASSWORD)
    expect(passwords).toHaveLength(asked)
    if (end === 'rescue') expect(passwords[1]).toBe('open sesame')
    else expect(node.last_error).toContain('out of date agent ramdisk')
  },
)

test('a password that the agent cannot set', async () => {
  const { lab, uuid, machine } = await active()
  machine.script.rescueFailure = 'read-only file system'
  expect(await lab.provision(uuid, 'rescue', 'rescue failed', PASSWORD)).toMatchObject({
    last_error: `Node failed to perform rescue operation: Failed to rescue instance None for node ${uuid}: Agent returned bad result for command finalize_rescue: read-only file system`,
    power_state: 'power off',
    target_provision_state: 'rescue',
    instance_info: expect.not.objectContaining({ rescue_password: expect.anything() }) as object,
  })
  expect(await lab.provision(uuid, 'unrescue', 'active')).toMatchObject({ power_state: 'power on' })
})

test('a machine that cannot be switched', async () => {
  const { lab, uuid, machine } = await active()
  machine.failing = 'no answer'
  const node = await lab.provision(uuid, 'rescue', 'rescue failed', PASSWORD)
  expect(node.last_error).toBe('Failed to rescue: no answer')
})

test('no agent reports', async () => {
  const { lab, uuid, machine } = await active()
  machine.script.silent = true
  expect(await lab.provision(uuid, 'rescue', 'rescue failed', PASSWORD)).toMatchObject({
    last_error: 'Timeout reached while waiting for rescue ramdisk callback for node',
    power_state: 'power off',
  })
})

test('abort says so, which Ironic does not', async () => {
  const { lab, uuid, machine } = await active()
  machine.script.silent = true
  await lab.provision(uuid, 'rescue', 'rescue wait', PASSWORD)
  expect(await lab.provision(uuid, 'abort', 'rescue failed')).toMatchObject({
    last_error: 'By request, the rescue operation was aborted.',
    // Virtual media are ejected from a machine that is off.
    power_state: 'power off',
  })
})

test('the rescue interface no-rescue refuses a rescue with 400', async () => {
  const { lab, uuid } = await active('no-rescue')
  await expect(lab.conductor.provision(uuid, { target: 'rescue', ...PASSWORD })).rejects.toMatchObject({
    status: 400,
    message: `Failed to rescue instance None for node ${uuid}: Validation failed: Driver redfish does not support rescue (disabled or not implemented).`,
  })
})

test('is refused in maintenance', async () => {
  const { lab, uuid } = await active()
  await lab.conductor.setMaintenance(uuid, true)
  await expect(lab.conductor.provision(uuid, { target: 'rescue', ...PASSWORD })).rejects.toMatchObject({
    message: `The rescuing operation can't be performed on node ${uuid} because it's in maintenance mode.`,
  })
})

test('an undeployed node that was rescued forgets it all', async () => {
  const { lab, uuid } = await active()
  await lab.provision(uuid, 'rescue', 'rescue', PASSWORD)
  expect(await lab.provision(uuid, 'deleted', 'available')).toMatchObject({ instance_info: {} })
})
