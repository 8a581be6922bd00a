import { eraseDevices, eraseDevicesMetadata } from './erase-devices/erase-devices.js'
import { installCoreos } from './install-coreos/install-coreos.js'
import type { HardwareManager } from './sdk.js'

/** What every machine can do. Names and version as in ironic-python-agent, which Ironic compares between calls. */
export const genericHardwareManager: HardwareManager = {
  className: 'GenericHardwareManager',
  name: 'generic_hardware_manager',
  version: '1.2',
  support: () => Promise.resolve(1),
  steps: [eraseDevices, eraseDevicesMetadata],
}

/** The manager that OpenShift's agent image adds. */
export const coreosHardwareManager: HardwareManager = {
  className: 'CoreOSInstallHardwareManager',
  name: 'CoreOSInstallHardwareManager',
  version: '1',
  support: () => Promise.resolve(3),
  steps: [installCoreos],
}

/** The managers of an agent that was given no others. */
export const standardManagers: readonly HardwareManager[] = [coreosHardwareManager, genericHardwareManager]
