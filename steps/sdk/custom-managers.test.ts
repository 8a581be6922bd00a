import { expect, test } from 'vitest'
import { scriptedTarget } from '../../test/kit/scripted-target.js'
import { defineStep } from './define-step.js'
import { genericHardwareManager, standardManagers } from '../hardware-managers.js'
import { managersWith } from './custom-managers.js'

const step = (name: string) =>
  defineStep({ name, interface: 'deploy', on: ['deploy'], run: () => Promise.resolve(null) })

test('steps without a manager share one, before the standard ones', async () => {
  const managers = managersWith(step('a'), { ...genericHardwareManager, className: 'Mine', name: 'mine' }, step('b'))
  expect(managers.map(({ className }) => className)).toEqual([
    'Mine',
    'CustomHardwareManager',
    ...standardManagers.map(({ className }) => className),
  ])
  expect(managers[1]!.steps.map(({ name }) => name)).toEqual(['a', 'b'])
  expect(await managers[1]!.support(scriptedTarget({}))).toBe(3)
  expect(managersWith()).toEqual(standardManagers)
})

test('a step may replace a generic one', () => {
  expect(() => managersWith(step('erase_devices'))).not.toThrow()
})

test.each([
  ['two steps of a name', () => managersWith(step('a'), step('a')), 'there are two steps a in CustomHardwareManager'],
  ['a manager twice', () => managersWith(genericHardwareManager), 'two hardware managers of class GenericHardware'],
  ['install_coreos', () => managersWith(step('install_coreos')), 'the step install_coreos already exists'],
])('a set of managers with %s is refused', (_, make, sentence) => {
  expect(make).toThrow(sentence)
})
