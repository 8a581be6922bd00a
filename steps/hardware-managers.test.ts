import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { INVENTORY } from '../test/kit/agent-scene.js'
import { scriptedTarget } from '../test/kit/scripted-target.js'
import type { AdvertisedStep, StepKind } from '../base/wire/index.js'
import { containerHardwareManager, coreosHardwareManager, standardManagers } from './hardware-managers.js'

type Recorded = Record<StepKind, Record<string, AdvertisedStep[]>>
const recorded = JSON.parse(
  readFileSync(new URL('../test/fixtures/agent-api/advertised-steps.json', import.meta.url), 'utf8'),
) as Recorded

const byName = (steps: readonly AdvertisedStep[]) => [...steps].sort((a, b) => (a.step < b.step ? -1 : 1))

describe.each(['clean', 'deploy', 'service'] as const)('%s steps', (kind) => {
  const managers = standardManagers.filter(({ steps }) => steps.some((step) => step.on.includes(kind)))

  test.each(managers.map(({ className }) => className))('of %s are advertised as recorded', (className) => {
    const { steps } = standardManagers.find((manager) => manager.className === className)!
    const ours = steps.filter((step) => step.on.includes(kind)).map((step) => step.advertise(kind))
    const theirs = recorded[kind][className]!
    // install_coreos takes arguments here, on purpose.
    const plain = (list: AdvertisedStep[]) =>
      byName(list).map((step) => (step.step === 'install_coreos' ? { ...step, argsinfo: {} } : step))
    expect(plain(ours)).toEqual(plain(theirs))
  })

  test('belong to the managers of upstream', () => {
    expect(managers.map(({ className }) => className).sort()).toEqual(Object.keys(recorded[kind]).sort())
  })
})

test('the standard managers have the recorded names and versions', () => {
  expect(Object.fromEntries(standardManagers.map(({ name, version }) => [name, version]))).toEqual({
    CoreOSInstallHardwareManager: '1',
    ContainerHardwareManager: '2',
    generic_hardware_manager: '1.2',
  })
})

test('containers need podman', async () => {
  expect(await containerHardwareManager.support(scriptedTarget({}))).toBe(0)
  expect(await containerHardwareManager.support(scriptedTarget({ 'podman --version': 'podman version 5.0.0\n' }))).toBe(
    2,
  )
})

test.each([
  ['virtio_net', true],
  ['cdc_ether', false],
  ['cdc_ncm', false],
  ['cdc_mbim', true],
  [null, true],
])('a NIC with the driver %s is visible: %s', (driver, isVisible) => {
  const [nic] = INVENTORY.interfaces
  expect(coreosHardwareManager.keepsInterface?.({ ...nic!, driver })).toBe(isVisible)
})
