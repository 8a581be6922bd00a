import { describe, expect, test } from 'vitest'
import { IPA_PACE } from './pace.js'
import { AgentScene } from '../test/kit/agent-scene.js'
import { NODE, TOKEN } from '../test/kit/fake-ironic.js'
import { exited } from '../test/kit/fake-target.js'

const INSPECTED = {
  id: 'boot-1',
  parameters: {
    'ipa-api-url': 'http://ironic:6385',
    'ipa-inspection-callback-url': 'http://ironic:6385/v1/continue_inspection',
  },
}

test('stopped in the middle of a step, the agent leaves its program alone', async () => {
  const scene = await new AgentScene().serving()
  let cancelled = 0
  scene.target.programs.work = () => new Promise(() => {})
  const { start } = scene.target.executor
  scene.target.executor.start = async (command) => ({ ...(await start(command)), cancel: async () => void cancelled++ })
  await scene.execute('peers_run')
  await scene.clock.advance(0)
  await scene.agent.stop()
  expect(cancelled).toBe(0)
  expect(scene.saved).toContain('"RUNNING"')
  expect(await scene.post('standby.sync')).toMatchObject({ status: 503 })
})

describe('after a restart on the same boot', () => {
  test('nothing is looked up again: token, node and commands are restored, and a heartbeat goes out', async () => {
    await using scene = await new AgentScene({ boot: INSPECTED }).serving()
    const { id } = await scene.execute('peers_noop')
    await scene.clock.advance(0)
    await scene.agent.stop()
    const before = scene.ironic.calls.length

    await scene.serving()

    expect(scene.ironic.calls[before]).toMatchObject({ call: 'heartbeat' })
    expect(scene.ironic.of('lookup')).toHaveLength(1)
    expect(await scene.commands()).toMatchObject([{ id, command_status: 'SUCCEEDED' }])
  })

  test('on another boot everything starts again', async () => {
    await using scene = await new AgentScene().serving()
    await scene.execute('peers_noop')
    await scene.agent.stop()
    scene.ironic.token = 'B'.repeat(43)
    scene.start({ boot: { id: 'boot-2', parameters: { 'ipa-api-url': 'http://ironic:6385' } } })
    await scene.clock.advance(0)
    expect(scene.ironic.of('lookup')).toHaveLength(2)
  })

  test('a command whose program is lost fails with that reason, and Ironic gets a heartbeat', async () => {
    await using scene = await new AgentScene({ pace: IPA_PACE }).serving()
    scene.target.programs.work = () => new Promise(() => {})
    const { id } = await scene.execute('peers_run')
    await scene.clock.advance(0)
    await scene.agent.stop()
    expect(scene.saved).toContain('"RUNNING"')
    scene.target.forgetRuns()
    const before = scene.ironic.of('heartbeat').length

    await scene.serving()
    await scene.clock.advance(6000)

    expect(await scene.commands()).toEqual([
      {
        id,
        command_name: 'execute_deploy_step',
        command_status: 'FAILED',
        command_error: {
          type: 'CommandExecutionError',
          code: 500,
          message: 'Command execution failed',
          details:
            'peers_run was under way when the agent was killed, and its program with it; how far it got is not known',
        },
        command_result: null,
      },
    ])
    expect(scene.ironic.of('heartbeat').length).toBeGreaterThan(before)
  })

  test('a command attaches to its program that still runs, and does not start it twice', async () => {
    await using scene = await new AgentScene().serving()
    let finish = () => {}
    scene.target.programs.work = () => new Promise((resolve) => (finish = () => resolve(exited(0))))
    const { id } = await scene.execute('peers_run')
    await scene.clock.advance(0)
    await scene.agent.stop()

    await scene.serving()
    expect(await scene.commands()).toMatchObject([{ id, command_status: 'RUNNING' }])
    finish()
    await scene.clock.advance(0)

    expect(await scene.commands()).toMatchObject([
      { id, command_status: 'SUCCEEDED', command_result: { deploy_result: { exit: { kind: 'exited', code: 0 } } } },
    ])
    expect(scene.target.started.filter(({ argv }) => argv[0] === 'work')).toHaveLength(1)
  })

  test('parameters, with their secrets, are saved only while their command runs', async () => {
    await using scene = await new AgentScene().serving()
    await scene.execute('peers_sleep', { seconds: 5, secret: 'hunter2' })
    expect(scene.saved).toContain('hunter2')
    await scene.clock.advance(5000)
    expect(scene.saved).not.toContain('"params"')
  })

  test('a state saved by another version counts as nothing', async () => {
    await using scene = new AgentScene()
    scene.saved = JSON.stringify({ format: 0, bootId: 'boot-1', token: TOKEN, nodeUuid: NODE })
    await scene.serving()
    expect(scene.ironic.of('lookup')).toHaveLength(1)
  })
})
