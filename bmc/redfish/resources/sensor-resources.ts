import { defined } from '../../../base/runtime/index.js'
import { sensorsOf, type Machine, type SensorReading } from '../../../machine/index.js'
import {
  makeCollection,
  resourceHead,
  referenceTo,
  redfishPath,
  enabledStatus,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { ofMachine, type RedfishResource } from '../protocol/resource.js'

const READING_TYPES = { temperature: 'Temperature', fan: 'Rotational', voltage: 'Voltage', power: 'Power' } as const

/** State of a sensor without a reading, as of a CPU that is off. */
const sensorStatusOf = ({ reading }: SensorReading): RedfishDocument =>
  reading === null ? { State: 'Absent' } : enabledStatus()

const ofKind = (machine: Machine, kind: SensorReading['kind']): SensorReading[] =>
  sensorsOf(machine.spec, machine.power()).filter((each) => each.kind === kind)

/** The members that all entries of Thermal and Power have. */
const makeSensorEntry = (
  path: readonly string[],
  list: string,
  index: number,
  sensor: SensorReading,
): RedfishDocument => ({
  '@odata.id': `${redfishPath(...path)}#/${list}/${index}`,
  MemberId: String(index),
  Name: sensor.name,
  Status: sensorStatusOf(sensor),
})

function thermalOf(machine: Machine): RedfishDocument {
  const path = ['Chassis', machine.spec.id, 'Thermal']
  return {
    ...resourceHead('Thermal', path, 'Thermal'),
    Temperatures: ofKind(machine, 'temperature').map((sensor, index) => ({
      ...makeSensorEntry(path, 'Temperatures', index, sensor),
      SensorNumber: index + 1,
      ReadingCelsius: sensor.reading,
      LowerThresholdCritical: sensor.lower,
      UpperThresholdCritical: sensor.upper,
      PhysicalContext: sensor.context,
    })),
    Fans: ofKind(machine, 'fan').map((sensor, index) => ({
      ...makeSensorEntry(path, 'Fans', index, sensor),
      Reading: sensor.reading,
      ReadingUnits: 'RPM',
      LowerThresholdCritical: sensor.lower,
      UpperThresholdCritical: sensor.upper,
      PhysicalContext: sensor.context,
    })),
  }
}

function powerOf(machine: Machine): RedfishDocument {
  const { spec } = machine
  const path = ['Chassis', spec.id, 'Power']
  const watts = ofKind(machine, 'power')[0]!.reading
  return {
    ...resourceHead('Power', path, 'Power'),
    PowerControl: [
      {
        '@odata.id': `${redfishPath(...path)}#/PowerControl/0`,
        MemberId: '0',
        Name: 'System Power Control',
        PowerConsumedWatts: watts,
        PowerCapacityWatts: 1000,
        Status: enabledStatus(),
      },
    ],
    Voltages: ofKind(machine, 'voltage').map((sensor, index) => ({
      ...makeSensorEntry(path, 'Voltages', index, sensor),
      ReadingVolts: sensor.reading,
      LowerThresholdCritical: sensor.lower,
      UpperThresholdCritical: sensor.upper,
      PhysicalContext: sensor.context,
    })),
    PowerSupplies: [
      {
        '@odata.id': `${redfishPath(...path)}#/PowerSupplies/0`,
        MemberId: '0',
        Name: 'Power Supply 1',
        PowerSupplyType: 'AC',
        LineInputVoltage: 230,
        LineInputVoltageType: 'ACMidLine',
        PowerCapacityWatts: 1000,
        LastPowerOutputWatts: watts,
        Manufacturer: spec.manufacturer,
        Model: 'PSU 1000 W',
        SerialNumber: `PSU-${spec.serial}`,
        FirmwareVersion: '1.0.0',
        InputRanges: [{ InputType: 'AC', MinimumVoltage: 180, MaximumVoltage: 264, OutputWattage: 1000 }],
        Status: enabledStatus(),
      },
    ],
  }
}

/** Power, temperatures and fans of a chassis. */
export const SENSOR_RESOURCES: readonly RedfishResource[] = [
  ofMachine('/Chassis/{machine}/Thermal', { reads: 'read sensors', get: ({ machine }) => thermalOf(machine) }),
  ofMachine('/Chassis/{machine}/Power', { reads: 'read sensors', get: ({ machine }) => powerOf(machine) }),
  ofMachine('/Chassis/{machine}/Sensors', {
    reads: 'read sensors',
    get: ({ machine: { spec } }) => {
      const path = ['Chassis', spec.id, 'Sensors']
      const members = sensorsOf(spec, 'on').map(({ id }) => referenceTo(...path, id))
      return makeCollection('SensorCollection', path, 'Sensors', members)
    },
  }),
  ofMachine('/Chassis/{machine}/Sensors/{sensor}', {
    reads: 'read sensors',
    get: ({ machine, params }) => {
      const sensor = sensorsOf(machine.spec, machine.power()).find(({ id }) => id === params['sensor'])
      return (
        sensor && {
          ...resourceHead('Sensor', ['Chassis', machine.spec.id, 'Sensors', sensor.id], sensor.name),
          ReadingType: READING_TYPES[sensor.kind],
          Reading: sensor.reading,
          ReadingUnits: sensor.units === 'RPM' ? '{rev}/min' : sensor.units,
          PhysicalContext: sensor.context,
          Thresholds: defined({
            LowerCritical: sensor.lower === null ? undefined : { Reading: sensor.lower },
            UpperCritical: sensor.upper === null ? undefined : { Reading: sensor.upper },
          }),
          Status: sensorStatusOf(sensor),
        }
      )
    },
  }),
]
