import { expect, test } from 'vitest'
import { standardManagers } from './index.js'

test('what an agent can do unless it is given more: IPA has many more steps, OpenShift one', () => {
  expect(standardManagers.map(({ name, version, steps }) => [name, version, steps.map((step) => step.name)])).toEqual([
    ['CoreOSInstallHardwareManager', '1', ['install_coreos']],
    ['generic_hardware_manager', '1.2', ['erase_devices', 'erase_devices_metadata']],
  ])
})
