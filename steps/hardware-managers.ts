import { startAssistedInstall } from './assisted-install/start-assisted-install.js'
import { executeBootcInstall } from './bootc/execute-bootc-install.js'
import { burninCpu, burninDisk, burninGpu, burninMemory, burninNetwork } from './burn-in/burn-in.js'
import { containerCleanStep, genericContainerStep } from './containers/container-step.js'
import { eraseDevices, eraseDevicesExpress, eraseDevicesMetadata } from './erase-devices/erase-devices.js'
import { cleanUefiNvram } from './firmware/clean-uefi-nvram.js'
import { erasePstore } from './firmware/erase-pstore.js'
import { injectFiles } from './inject-files/inject-files.js'
import { installCoreos } from './install-coreos/install-coreos.js'
import { nameLocalhost } from './install-coreos/name-localhost.js'
import { applyConfiguration, createConfiguration, deleteConfiguration } from './raid/raid-steps.js'
import { runToEnd } from './sdk/run-command.js'
import type { HardwareManager } from './sdk/step.js'
import { writeImage } from './write-image/write-image.js'

/** Steps for every machine. Names and version are ironic-python-agent's, since Ironic compares them between calls. */
export const genericHardwareManager: HardwareManager = {
  className: 'GenericHardwareManager',
  name: 'generic_hardware_manager',
  version: '1.2',
  support: () => Promise.resolve(1),
  steps: [
    eraseDevices,
    eraseDevicesMetadata,
    eraseDevicesExpress,
    erasePstore,
    cleanUefiNvram,
    deleteConfiguration,
    applyConfiguration,
    createConfiguration,
    burninCpu,
    burninGpu,
    burninDisk,
    burninMemory,
    burninNetwork,
    writeImage,
    executeBootcInstall,
    injectFiles,
  ],
}

/** NICs by which a BMC talks to its host: they lead nowhere else, and may have one MAC in all machines. */
const USB_NIC_DRIVERS: readonly string[] = ['cdc_ether', 'cdc_ncm']

/** The manager that OpenShift's agent image adds. */
export const coreosHardwareManager: HardwareManager = {
  className: 'CoreOSInstallHardwareManager',
  name: 'CoreOSInstallHardwareManager',
  version: '1',
  support: async (target, start) => {
    if (start) await nameLocalhost(target, start)
    return 3
  },
  keepsInterface: ({ driver }) => driver === null || !USB_NIC_DRIVERS.includes(driver),
  steps: [installCoreos, startAssistedInstall],
}

/** Steps in containers, on a live system with podman. */
export const containerHardwareManager: HardwareManager = {
  className: 'ContainerHardwareManager',
  name: 'ContainerHardwareManager',
  version: '2',
  support: async (target) => {
    const { exit } = await runToEnd(target.executor, ['podman', '--version'], { effect: 'reads' })
    return exit.kind === 'exited' && exit.code === 0 ? 2 : 0
  },
  steps: [genericContainerStep, containerCleanStep],
}

/**
 * The managers of an agent by default.
 *
 * @example
 * import { standardManagers } from 'ironstage/steps'
 *
 * const names = standardManagers.flatMap(({ steps }) => steps.map(({ name }) => name))
 */
export const standardManagers: readonly HardwareManager[] = [
  coreosHardwareManager,
  containerHardwareManager,
  genericHardwareManager,
]
