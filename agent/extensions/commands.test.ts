import { describe, expect, test, vi } from 'vitest'
import { defineStep, runCommand, StepError } from '../../steps/index.js'
import type { CommandResult, StepKind } from '../../base/wire/index.js'
import { AgentScene, testManager, testStep } from '../../test/kit/agent-scene.js'
import { exited } from '../../test/kit/fake-target.js'

const step = (run: () => Promise<unknown>) => ({ managers: [testManager('M', [testStep('it', run)])] })
const fails = (error: unknown) => step(() => Promise.reject(error as Error))

/** Runs `it` as a step of this kind and returns its outcome. */
async function executed(
  options: ReturnType<typeof step>,
  { kind = 'deploy' as StepKind, params = {} as object } = {},
): Promise<CommandResult> {
  await using scene = await new AgentScene(options).serving()
  const asked = { step: { step: 'it', interface: 'deploy' }, node: { uuid: 'n' }, ports: [], ...params }
  const { id } = await scene.command(`${kind}.execute_${kind}_step`, asked)
  await scene.clock.advance(0)
  return (await scene.commands()).find((command) => command.id === id)!
}

describe('executing a step', () => {
  test('echoes the step as it was sent, with what it returned', async () => {
    const sent = { step: 'it', interface: 'deploy', args: {}, priority: '80', more: [1] }
    expect(
      await executed(
        step(async () => ({ done: true })),
        { params: { step: sent } },
      ),
    ).toMatchObject({
      command_name: 'execute_deploy_step',
      command_status: 'SUCCEEDED',
      command_error: null,
      command_result: { deploy_result: { done: true }, deploy_step: sent },
    })
  })

  test('on a target whose disk is a file says when the file system is full', async () => {
    const fill = defineStep({
      name: 'it',
      interface: 'deploy',
      on: ['deploy'],
      run: ({ target }) => runCommand(target.executor, ['sync'], { effect: 'writes' }).then(() => null),
    })
    await using scene = await new AgentScene({ managers: [testManager('M', [fill])] }).serving()
    scene.target.programs.sync = () => exited(1, 'sync: Input/output error\n')
    Object.assign(scene.target, { diskFile: () => Promise.resolve({ path: '/srv/a.img', roomLeft: 0 }) })
    const asked = { step: { step: 'it', interface: 'deploy' }, node: { uuid: 'n' }, ports: [] }
    await scene.command('deploy.execute_deploy_step', asked)
    await vi.waitFor(async () =>
      expect((await scene.commands()).at(-1)).toMatchObject({
        command_status: 'FAILED',
        command_error: { details: expect.stringContaining('/srv/a.img, whose file system is full') as string },
      }),
    )
  })

  test('a step that returns nothing has the result null', async () => {
    expect(await executed(step(async () => undefined))).toMatchObject({ command_result: { deploy_result: null } })
  })

  test.each([
    {
      name: 'of a step that failed, by the kind of work: deploy',
      kind: 'deploy' as const,
      thrown: new StepError('no luck'),
      error: { type: 'DeploymentError', code: 500, message: 'Deploy step failed', details: 'no luck' },
    },
    {
      name: 'clean',
      kind: 'clean' as const,
      thrown: new StepError('no luck'),
      error: { type: 'CleaningError', code: 500, message: 'Clean step failed', details: 'no luck' },
    },
    {
      name: 'service',
      kind: 'service' as const,
      thrown: new StepError('no luck'),
      error: { type: 'ServicingError', code: 500, message: 'Service step failed', details: 'no luck' },
    },
    {
      name: 'of IPA’s own types stays as it is',
      kind: 'deploy' as const,
      thrown: new StepError('No suitable device was found for deployment using these hints', {
        type: 'DeviceNotFound',
      }),
      error: {
        type: 'DeviceNotFound',
        code: 404,
        message: 'Error finding the disk or partition device to deploy the image onto',
        details: 'No suitable device was found for deployment using these hints',
      },
    },
    {
      name: 'that is unexpected names the step and the thrown value',
      kind: 'deploy' as const,
      thrown: new RangeError('kaboom'),
      error: {
        type: 'DeploymentError',
        code: 500,
        message: 'Deploy step failed',
        details: 'Unexpected exception performing deploy step it. RangeError: kaboom',
      },
    },
  ])('the error $name', async ({ kind, thrown, error }) => {
    expect(await executed(fails(thrown), { kind })).toMatchObject({
      command_status: 'FAILED',
      command_error: error,
      command_result: null,
    })
  })

  test.each([
    { sent: {}, details: 'Malformed deploy_step, no "step" key: {}' },
    { sent: { interface: 'deploy' }, details: `Malformed deploy_step, no "step" key: {'interface': 'deploy'}` },
  ])('without its name it is malformed: $sent', async ({ sent, details }) => {
    expect(
      await executed(
        step(async () => null),
        { params: { step: sent } },
      ),
    ).toMatchObject({
      command_error: { type: 'CommandExecutionError', code: 500, details },
    })
  })

  test('one that no manager has', async () => {
    const params = { step: { step: 'nosuch', interface: 'deploy' } }
    expect(
      await executed(
        step(async () => null),
        { params },
      ),
    ).toMatchObject({
      command_error: {
        type: 'HardwareManagerMethodNotFound',
        code: 500,
        message: 'No HardwareManager found to handle method',
        details: 'Could not find method: nosuch',
      },
    })
  })

  test.each([
    { name: 'of now', version: { M: '1.0' }, status: 'SUCCEEDED' },
    { name: 'that are unknown', version: null, status: 'SUCCEEDED' },
    { name: 'of before', version: { M: '0.9' }, status: 'CLEAN_VERSION_MISMATCH' },
    { name: 'of more managers', version: { M: '1.0', Other: '1' }, status: 'CLEAN_VERSION_MISMATCH' },
  ])('with the versions $name ends as $status', async ({ version, status }) => {
    const result = await executed(
      step(async () => null),
      { kind: 'clean', params: { clean_version: version } },
    )
    expect(result.command_status).toBe(status)
  })

  test('a version mismatch quotes both sides as Python does', async () => {
    const params = { deploy_version: { M: '0.9' } }
    expect(
      (
        await executed(
          step(async () => null),
          { params },
        )
      ).command_error,
    ).toEqual({
      type: 'VersionMismatch',
      code: 409,
      message: 'Hardware managers version mismatch, reload agent with correct version',
      details: "Current versions: {'M': '1.0'}, versions used by ironic: {'M': '0.9'}",
    })
  })

  test('a value that is not JSON cannot be a result', async () => {
    expect(await executed(step(async () => ({ size: 1n })))).toMatchObject({
      command_status: 'FAILED',
      command_error: { details: expect.stringContaining('execute_deploy_step returned what is not JSON') as unknown },
    })
  })

  test('progress is reported while the step runs', async () => {
    const events: unknown[] = []
    const managers = [
      testManager('M', [
        testStep('it', async ({ progress }) => {
          progress.stage('writing')
          progress.percent(50)
          progress.line('half of it')
        }),
      ]),
    ]
    await using scene = await new AgentScene({ managers, onProgress: (progress) => events.push(progress) }).serving()
    const { id: command } = await scene.execute('it')
    await scene.clock.advance(0)
    expect(events).toEqual([
      { kind: 'stage', command, step: 'it', name: 'writing' },
      { kind: 'percent', command, step: 'it', value: 50 },
      { kind: 'line', command, step: 'it', text: 'half of it' },
    ])
  })
})

describe('standby', () => {
  test.each([
    { command: 'power_off', argv: ['systemctl', 'poweroff'] },
    { command: 'run_image', argv: ['systemctl', 'reboot'] },
  ])('$command writes out what is cached, then runs $argv', async ({ command, argv }) => {
    await using scene = await new AgentScene().serving()
    scene.target.programs = { sync: () => exited(0), systemctl: () => exited(0) }
    expect(await scene.command(`standby.${command}`)).toMatchObject({ command_status: 'RUNNING' })
    await scene.clock.advance(0)
    expect(scene.target.started.map((started) => started.argv)).toEqual([['sync'], argv])
    expect(await scene.commands()).toMatchObject([{ command_status: 'SUCCEEDED', command_result: null }])
  })

  test('a machine that is gone with the program does not keep the agent from stopping', async () => {
    const scene = await new AgentScene().serving()
    scene.target.programs = { sync: () => exited(0), systemctl: () => new Promise(() => {}) }
    await scene.command('standby.power_off')
    await scene.clock.advance(0)
    await scene.agent.stop()
    expect(scene.saved).toContain('"RUNNING"')
  })

  test('a target that may not be switched off refuses before anything is run', async () => {
    await using scene = await new AgentScene().serving()
    scene.target.capabilities = []
    await scene.command('standby.power_off')
    await scene.clock.advance(0)
    expect(scene.target.started).toEqual([])
    expect(await scene.commands()).toMatchObject([
      { command_status: 'FAILED', command_error: { type: 'SystemRebootError', code: 500 } },
    ])
  })
})

describe('one command at a time', () => {
  test('a second one is refused while one runs, and leaves no trace', async () => {
    await using scene = await new AgentScene().serving()
    await scene.execute('peers_sleep', { seconds: 10 })
    expect(await scene.post('clean.get_clean_steps', { node: {}, ports: [] })).toMatchObject({
      status: 409,
      body: { faultstring: 'Agent is busy: executing command execute_deploy_step' },
    })
    expect(await scene.commands()).toHaveLength(1)
  })

  test('while a synchronous one is under way others wait for it, and reading does not', async () => {
    await using scene = await new AgentScene().serving()
    let finish = () => {}
    scene.target.programs.sync = () => new Promise((resolve) => (finish = () => resolve(exited(0))))
    const sync = scene.post('standby.sync')
    const next = scene.post('standby.get_partition_uuids')
    await scene.clock.advance(0)
    expect(await scene.commands()).toEqual([])
    finish()
    expect((await sync).body).toMatchObject({ command_name: 'sync', command_status: 'SUCCEEDED' })
    expect((await next).body).toMatchObject({ command_name: 'get_partition_uuids', command_result: {} })
  })

  test('a synchronous one that failed is listed under its full name', async () => {
    await using scene = await new AgentScene().serving()
    scene.target.programs.sync = () => exited(1, 'Input/output error\n')
    await scene.command('standby.sync')
    expect(await scene.commands()).toMatchObject([
      {
        command_name: 'standby.sync',
        command_status: 'FAILED',
        command_error: { details: 'sync ended with exit code 1: Input/output error' },
      },
    ])
  })
})
