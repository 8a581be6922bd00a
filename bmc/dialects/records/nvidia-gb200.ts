import { dialectFrom } from '../dialect.js'
import { OPENBMC } from './openbmc.js'

/** From a dump of a GB200 NVL, 24.12 (NVIDIA/libredfish, tests/mockups/nvidia_gb200). */
export const NVIDIA_GB200 = dialectFrom(OPENBMC, {
  description: 'NVIDIA GB200 NVL (OpenBMC)',
  basis: 'dump',
  maker: 'nvidia',
  manufacturer: 'NVIDIA',
  model: 'GB200 NVL',
  paths: {
    system: 'System_0',
    manager: 'BMC_0',
    chassis: 'Chassis_0',
  },
  service: {
    vendor: 'NVIDIA',
    product: 'GB200 NVL',
  },
  media: {
    // In the order of the dump. Clients take the first that can be a CD.
    slots: [
      { id: 'USB2', name: 'Virtual Removable Media', drive: 'cdrom', types: ['CD', 'USBStick'], below: ['Managers'] },
      { id: 'USB1', name: 'Virtual Removable Media', drive: 'disk', types: ['CD', 'USBStick'], below: ['Managers'] },
    ],
  },
  boot: {
    at: 'both',
    settings: 'Settings',
    mode: 'absent',
  },
  etags: {
    form: 'none',
  },
  properties: {
    leftOut: [
      'ComputerSystem.Boot.HttpBootUri',
      'ComputerSystem.Boot.UefiTargetBootSourceOverride',
      'ComputerSystem.SimpleStorage',
      'ComputerSystem.EthernetInterfaces',
      'ComputerSystem.Manufacturer',
      'ComputerSystem.Model',
      'ComputerSystem.SerialNumber',
      'Storage.Volumes',
    ],
  },
})
