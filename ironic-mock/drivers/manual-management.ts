import { deployInterfacesOf } from './deploy/deploy-interfaces.js'
import { AGENT_PROPERTIES, GENERIC_BOOT, GENERIC_INTERFACES } from './generic.js'
import type { HardwareType } from './hardware-type.js'

/** A machine without a BMC: an operator switches its power by hand. */
export const MANUAL_MANAGEMENT: HardwareType = {
  name: 'manual-management',
  className: 'ManualManagementHardware',
  interfaces: {
    ...GENERIC_INTERFACES,
    deploy: deployInterfacesOf('every type', 'types without a BMC'),
    management: ['noop', 'fake'],
    power: ['agent', 'fake'],
    vendor: ['no-vendor'],
  },
  properties: AGENT_PROPERTIES,
  implementations: {
    boot: GENERIC_BOOT,
    management: {
      noop: {
        calls: [],
        bootDevices: ['pxe', 'disk'],
        listsBootDevices: true,
        readsModes: false,
        // The operator has configured the firmware to boot from the network first.
        fixed: { bootDevice: { boot_device: 'pxe', persistent: true } },
      },
    },
    power: { agent: { remembersPower: () => true, rebootsByAgent: true } },
  },
}
