import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../base/runtime/index.js'
import { StepError, type HardwareManager } from '../steps/index.js'
import type { StepKind } from '../base/wire/index.js'
import { testManager, testStep } from '../test/kit/agent-scene.js'
import { FakeTarget } from '../test/kit/fake-target.js'
import { Managers } from './agent-managers.js'

const target = new FakeTarget(new VirtualClock())
const probe = (...managers: HardwareManager[]) => Managers.probe(managers, target)
const prioritized = (name: string, priority: number, by: string) => ({
  ...testStep(name, async () => by),
  advertise: () => ({ step: name, interface: 'deploy' as const, priority, reboot_requested: false }),
})

describe('the manager that advertises a step', () => {
  test.each([
    {
      name: 'the one with the higher support, even with a lower priority',
      managers: [
        testManager('Generic', [prioritized('erase', 99, 'generic')], 1),
        testManager('Special', [prioritized('erase', 1, 'special')], 3),
      ],
      winner: 'Special',
    },
    {
      name: 'with equal support the one with the higher priority',
      managers: [
        testManager('A', [prioritized('erase', 1, 'a')], 1),
        testManager('B', [prioritized('erase', 2, 'b')], 1),
      ],
      winner: 'B',
    },
    {
      name: 'with equal priority the first by class name',
      managers: [
        testManager('B', [prioritized('erase', 1, 'b')], 1),
        testManager('A', [prioritized('erase', 1, 'a')], 1),
      ],
      winner: 'A',
    },
  ])('$name', async ({ managers, winner }) => {
    const advertised = (await probe(...managers)).advertise('clean')
    expect(Object.keys(advertised)).toEqual([winner])
  })

  test('managers without support are not asked at all', async () => {
    const managers = await probe(testManager('None', [testStep('x', async () => 1)], 0))
    expect(managers.advertise('deploy')).toEqual({})
    expect(managers.versions()).toEqual({})
    await expect(managers.dispatch('x', async () => 1)).rejects.toMatchObject({
      type: 'HardwareManagerMethodNotFound',
      details: 'Could not find method: x',
    })
  })

  test('a step is advertised only for the work it is for', async () => {
    const on: StepKind[] = ['clean']
    const managers = await probe(testManager('M', [testStep('wipe', async () => null, on)]))
    expect(managers.advertise('deploy')).toEqual({})
    expect(managers.advertise('clean')).toMatchObject({ M: [{ step: 'wipe' }] })
  })
})

describe('the manager that runs a step', () => {
  const runs = (by: string) => testStep('step', async () => by)
  const incompatible = testStep('step', async () => {
    throw new StepError('not here', { type: 'IncompatibleHardwareMethodError' })
  })
  const context = {} as Parameters<typeof incompatible.run>[0]

  test('is the one with the highest support', async () => {
    const managers = await probe(testManager('Low', [runs('low')], 1), testManager('High', [runs('high')], 2))
    expect(await managers.dispatch('step', (step) => step.run(context, {}))).toBe('high')
  })

  test('is the next one when the first does not handle this hardware', async () => {
    const managers = await probe(testManager('Low', [runs('low')], 1), testManager('High', [incompatible], 2))
    expect(await managers.dispatch('step', (step) => step.run(context, {}))).toBe('low')
  })

  test('none when all of them do not handle it', async () => {
    const managers = await probe(testManager('High', [incompatible], 2))
    await expect(managers.dispatch('step', (step) => step.run(context, {}))).rejects.toThrow(
      'Could not find method: step',
    )
  })
})
