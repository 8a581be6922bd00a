import { dialectFrom } from '../dialect.js'
import { AMI } from './ami.js'

/** From a dump of a DGX H100, AMI 23.11 (NVIDIA/libredfish, tests/mockups/nvidia_viking): it has no virtual media. */
export const NVIDIA_DGX = dialectFrom(AMI, {
  description: 'NVIDIA DGX H100 (AMI)',
  manufacturer: 'NVIDIA',
  model: 'DGXH100',
  paths: {
    system: 'DGX',
    manager: 'BMC',
    chassis: 'DGX',
  },
  resources: {
    further: [
      {
        folder: 'Systems',
        id: 'HGX_Baseboard_0',
        place: 'last',
        properties: {
          SystemType: 'Physical',
          Manufacturer: 'NVIDIA',
          PowerState: 'On',
          Status: { Health: 'OK', HealthRollup: 'OK', State: 'Enabled' },
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
        properties: { ManagerType: 'BMC', Model: 'OpenBmc', FirmwareVersion: 'HGX-22.10-1-rc57', PowerState: 'On' },
      },
      {
        folder: 'Chassis',
        id: 'CPUBaseboard',
        place: 'first',
        properties: { ChassisType: 'Component', Manufacturer: 'NVIDIA', Model: 'DGXH100', PowerState: null },
      },
      {
        folder: 'Chassis',
        id: 'HGX_Chassis_0',
        place: 'last',
        properties: {
          ChassisType: 'Zone',
          Links: { ComputerSystems: [{ '@odata.id': '/redfish/v1/Systems/HGX_Baseboard_0' }] },
        },
      },
    ],
  },
  media: {
    slots: [],
  },
  properties: {
    leftOut: [
      'ComputerSystem.BootProgress',
      'Port.Ethernet.LLDPEnabled',
      'Port.Ethernet.LLDPReceive',
      'ComputerSystem.ProcessorSummary.CoreCount',
      'ComputerSystem.ProcessorSummary.LogicalProcessorCount',
      'Processor.Model',
      'Processor.MaxSpeedMHz',
      'Processor.InstructionSet',
    ],
    changed: {
      'ComputerSystem.ProcessorSummary.Model': null,
      'ComputerSystem.SKU': '920-24387-2540-000',
    },
  },
})
