import { checkPatch } from '../protocol/checks.js'
import { collection, head, link, pathOf, status, type Document } from '../protocol/document.js'
import { ofMachine, ofService, type MachineCall, type Resource } from '../protocol/resource.js'
import { indicator, indicatorOf, setIndicator } from './indicators.js'
import { reset, RESET_TYPES } from './systems.js'

function chassisOf({ machine }: Pick<MachineCall, 'machine'>): Document {
  const { spec, firmware } = machine
  return {
    ...head('Chassis', ['Chassis', spec.id], `Chassis of ${spec.id}`),
    ChassisType: 'RackMount',
    Manufacturer: spec.manufacturer,
    Model: spec.product,
    SerialNumber: spec.serial,
    PowerState: machine.power() === 'on' ? 'On' : 'Off',
    IndicatorLED: indicatorOf(machine, 'chassis'),
    Status: { ...status(firmware.report().health), HealthRollup: firmware.report().health },
    NetworkAdapters: link('Chassis', spec.id, 'NetworkAdapters'),
    Thermal: link('Chassis', spec.id, 'Thermal'),
    Power: link('Chassis', spec.id, 'Power'),
    Sensors: link('Chassis', spec.id, 'Sensors'),
    Links: { ComputerSystems: [link('Systems', spec.id)], ManagedBy: [link('Managers', spec.id)] },
    Actions: {
      '#Chassis.Reset': {
        target: pathOf('Chassis', spec.id, 'Actions', 'Chassis.Reset'),
        'ResetType@Redfish.AllowableValues': RESET_TYPES,
      },
    },
  }
}

/** Chassis: one a machine. */
export const CHASSIS_RESOURCES: readonly Resource[] = [
  ofService('/Chassis', {
    reads: 'read chassis',
    get: ({ service, caller }) =>
      collection(
        'ChassisCollection',
        ['Chassis'],
        'Chassis',
        (caller ? service.visible(caller) : []).map(({ spec }) => link('Chassis', spec.id)),
      ),
  }),
  ofMachine('/Chassis/{machine}', {
    reads: 'read chassis',
    changes: 'change indicators',
    get: chassisOf,
    patch: async ({ machine, body }) => {
      checkPatch(body, { IndicatorLED: indicator }, chassisOf({ machine }))
      await setIndicator(machine, 'chassis', body['IndicatorLED'])
    },
  }),
  ofMachine('/Chassis/{machine}/Actions/Chassis.Reset', { reads: 'set power', post: reset('Chassis.Reset') }),
]
