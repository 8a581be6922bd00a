import { checkPatch } from '../protocol/value-checks.js'
import {
  makeCollection,
  resourceHead,
  referenceTo,
  redfishPath,
  enabledStatus,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { ofMachine, ofService, type MachineCall, type RedfishResource } from '../protocol/resource.js'
import { memberReferences } from './further-resources.js'
import { indicatorCheck, indicatorOf, setIndicator } from './indicators.js'
import { reset, resetValues, shownPower } from './system-resources.js'
import { NETWORK_ADAPTER_RESOURCES } from './adapter-resources.js'
import { SENSOR_RESOURCES } from './sensor-resources.js'

function chassisOf(call: MachineCall): RedfishDocument {
  const { machine, spoken } = call
  const { spec, firmware } = machine
  return {
    ...resourceHead('Chassis', ['Chassis', spec.id], `Chassis of ${spec.id}`),
    ChassisType: 'RackMount',
    Manufacturer: spec.manufacturer,
    Model: spec.product,
    SerialNumber: spec.serial,
    PowerState: shownPower(call),
    IndicatorLED: indicatorOf(machine, 'chassis'),
    Status: { ...enabledStatus(firmware.report().health), HealthRollup: firmware.report().health },
    NetworkAdapters: referenceTo('Chassis', spec.id, 'NetworkAdapters'),
    Thermal: referenceTo('Chassis', spec.id, 'Thermal'),
    Power: referenceTo('Chassis', spec.id, 'Power'),
    Sensors: referenceTo('Chassis', spec.id, 'Sensors'),
    Links: { ComputerSystems: [referenceTo('Systems', spec.id)], ManagedBy: [referenceTo('Managers', spec.id)] },
    Actions: {
      '#Chassis.Reset': {
        target: redfishPath('Chassis', spec.id, 'Actions', 'Chassis.Reset'),
        ...resetValues(machine, spoken.dialect),
      },
    },
  }
}

/** Chassis: one a machine. */
export const CHASSIS_RESOURCES: readonly RedfishResource[] = [
  ofService('/Chassis', {
    reads: 'read chassis',
    get: ({ service, caller }) =>
      makeCollection(
        'ChassisCollection',
        ['Chassis'],
        'Chassis',
        memberReferences('Chassis', caller ? service.visible(caller) : []),
      ),
  }),
  ofMachine('/Chassis/{machine}', {
    reads: 'read chassis',
    changes: 'change indicators',
    get: chassisOf,
    patch: async (call) => {
      const { machine, body } = call
      checkPatch(body, { IndicatorLED: indicatorCheck }, chassisOf(call))
      await setIndicator(machine, 'chassis', body['IndicatorLED'])
    },
  }),
  ofMachine('/Chassis/{machine}/Actions/Chassis.Reset', { reads: 'set power', post: reset('Chassis.Reset') }),
  ...NETWORK_ADAPTER_RESOURCES,
  ...SENSOR_RESOURCES,
]
