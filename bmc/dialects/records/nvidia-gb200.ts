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
  resources: {
    absent: ['/UpdateService/Actions/UpdateService.SimpleUpdate'],
    // The baseboard of the GPUs with its controller, and two of the 41 chassis beside the system's.
    further: [
      {
        folder: 'Systems',
        id: 'HGX_Baseboard_0',
        place: 'last',
        properties: {
          SystemType: 'Physical',
          Manufacturer: 'NVIDIA',
          Model: 'GB200 NVL',
          SerialNumber: '1643024000315',
          PowerState: 'On',
          Status: { Health: 'OK', HealthRollup: 'OK', State: 'Enabled' },
          MemorySummary: { TotalSystemMemoryGiB: 960 },
          ProcessorSummary: { CoreCount: 144, Count: 2, Model: 'ARMv9' },
          Links: {
            Chassis: [{ '@odata.id': '/redfish/v1/Chassis/HGX_Chassis_0' }],
            ManagedBy: [{ '@odata.id': '/redfish/v1/Managers/HGX_BMC_0' }],
          },
        },
      },
      {
        folder: 'Managers',
        id: 'HGX_BMC_0',
        place: 'last',
        properties: {
          ManagerType: 'BMC',
          Model: 'OpenBmc',
          FirmwareVersion: 'GB200Nvl-24.12-8',
          PowerState: 'On',
          Status: { Health: 'Critical', HealthRollup: 'OK', State: 'Starting' },
          Links: {
            ManagerForChassis: [{ '@odata.id': '/redfish/v1/Chassis/HGX_Chassis_0' }],
            ManagerForServers: [{ '@odata.id': '/redfish/v1/Systems/HGX_Baseboard_0' }],
          },
        },
      },
      {
        folder: 'Chassis',
        id: 'BMC_0',
        place: 'first',
        properties: { ChassisType: 'Component', IndicatorLED: 'Off' },
      },
      {
        folder: 'Chassis',
        id: 'HGX_Chassis_0',
        place: 'last',
        properties: {
          ChassisType: 'Zone',
          Manufacturer: 'NVIDIA',
          Model: 'GB200 NVL',
          Links: {
            ComputerSystems: [{ '@odata.id': '/redfish/v1/Systems/HGX_Baseboard_0' }],
            ManagedBy: [{ '@odata.id': '/redfish/v1/Managers/HGX_BMC_0' }],
          },
        },
      },
    ],
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
      'Port.Ethernet.LLDPEnabled',
      'Port.Ethernet.LLDPReceive',
      'ComputerSystem.ProcessorSummary.LogicalProcessorCount',
      'ComputerSystem.BiosVersion',
      'ComputerSystem.AssetTag',
      'Drive.Identifiers',
      'Drive.BlockSizeBytes',
      'Drive.Revision',
      'Drive.IndicatorLED',
      'Processor.ProcessorArchitecture',
      'Processor.InstructionSet',
    ],
    changed: {
      // Those of the maker alone. Sushy reads no service without the property.
      'UpdateService.Actions': { Oem: {} },
      'UpdateService.HttpPushUri': '/redfish/v1/UpdateService/update',
    },
  },
})
