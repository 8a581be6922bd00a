import { describe, expect, test, vi } from 'vitest'
import { scriptedTarget } from '../../test/kit/scripted-target.js'
import { stepContext } from '../../test/kit/step-context.js'
import { BadStepArguments } from './step.js'
import { defineStep } from './define-step.js'
import { genericHardwareManager } from '../hardware-managers.js'
import { installCoreos } from '../install-coreos/install-coreos.js'

const ran = vi.fn()
const sleep = defineStep<{ seconds: number; note?: string }>({
  name: 'sleep',
  interface: 'deploy',
  on: ['clean', 'deploy'],
  priority: { clean: 5 },
  abortable: true,
  args: {
    properties: {
      seconds: { type: 'number', minimum: 0, description: 'How long.' },
      note: { type: 'string', description: 'Said afterwards.' },
    },
    required: ['seconds'],
  },
  run: async (_, { seconds }) => {
    ran()
    return Promise.resolve(`slept ${seconds}`)
  },
})
const context = () => stepContext(scriptedTarget({}))

describe('an advertised step', () => {
  test('has argsinfo from the schema', () => {
    expect(sleep.advertise('clean')).toEqual({
      step: 'sleep',
      priority: 5,
      interface: 'deploy',
      reboot_requested: false,
      abortable: true,
      argsinfo: {
        seconds: { description: 'How long.', required: true },
        note: { description: 'Said afterwards.', required: false },
      },
    })
  })

  test('of deployment has no abortable, and priority 0 by default', () => {
    expect(sleep.advertise('deploy')).not.toHaveProperty('abortable')
    expect(sleep.advertise('deploy').priority).toBe(0)
  })

  test('without arguments has no argsinfo, as recorded', () => {
    expect(genericHardwareManager.steps.slice(0, 2).map((step) => step.advertise('clean'))).toEqual([
      { step: 'erase_devices', priority: 10, interface: 'deploy', reboot_requested: false, abortable: true },
      { step: 'erase_devices_metadata', priority: 99, interface: 'deploy', reboot_requested: false, abortable: true },
    ])
  })

  test('install_coreos lists every argument and requires none', () => {
    const advertised = installCoreos.advertise('deploy')
    expect(advertised).toMatchObject({ step: 'install_coreos', priority: 0, interface: 'deploy' })
    expect(Object.keys(advertised.argsinfo!)).toEqual([
      'ignition',
      'append_karg',
      'delete_karg',
      'image_url',
      'image_sha256',
      'copy_network',
      'hostname',
      'hostname_source',
      'own_hostname',
      'platform',
      'console',
      'insecure',
      'preserve_on_error',
      'check_ignition',
      'eject_media',
    ])
    expect(Object.values(advertised.argsinfo!).every(({ required }) => required === false)).toBe(true)
  })
})

describe('the arguments of a step', () => {
  test('reach it when they are valid', async () => {
    expect(await sleep.run(context(), { seconds: 3, note: null })).toBe('slept 3')
  })

  test.each([
    [{ seconds: 1, foo: 1, bar: 2 }, 'step sleep has these unexpected arguments: foo, bar'],
    [{}, 'step sleep is missing these required arguments: seconds (How long.)'],
    [{ seconds: 'long' }, 'argument seconds of step sleep is not valid: it must be number'],
    [{ seconds: -1 }, 'argument seconds of step sleep is not valid: it must be >= 0'],
  ])('%j are refused before the step begins', async (args, sentence) => {
    ran.mockClear()
    await expect(sleep.run(context(), args)).rejects.toThrow(new BadStepArguments(sentence))
    expect(ran).not.toHaveBeenCalled()
  })

  test('are not repeated in the message, since they may be secrets', async () => {
    const complaint = await sleep.run(context(), { seconds: 'hunter2' }).catch((error: Error) => error.message)
    expect(complaint).not.toContain('hunter2')
  })
})
