import type { MachinePower } from '../machine.js'

/** A reading of a machine's BMC. */
export interface SensorReading {
  /** `Inlet Temp` */
  name: string
  id: string
  kind: 'temperature' | 'fan' | 'voltage' | 'power'
  units: 'Cel' | 'RPM' | 'V' | 'W'
  /** Null for what has no reading while the machine is off. */
  reading: number | null
  /** Limits beyond which the reading is critical; null if the sensor has no such limit. */
  lower: number | null
  upper: number | null
  context: 'Intake' | 'CPU' | 'SystemBoard' | 'PowerSupply'
}

/**
 * The sensors of a machine. They follow its power and nothing else: the same state always gives the same readings.
 *
 * @param cpus a larger machine takes more power
 */
export function sensorsOf({ cpus }: { cpus: number }, power: MachinePower): SensorReading[] {
  const isOn = power === 'on'
  const watts = isOn ? 90 + 5 * cpus : 12
  const sensor = (
    [id, name, kind, units, context]: readonly [
      ...[string, string, SensorReading['kind'], SensorReading['units'], SensorReading['context']],
    ],
    reading: number | null,
    lower: number | null,
    upper: number | null,
  ): SensorReading => ({ id, name, kind, units, context, reading, lower, upper })
  return [
    sensor(['InletTemp', 'Inlet Temp', 'temperature', 'Cel', 'Intake'], isOn ? 24 : 21, -7, 47),
    sensor(['Cpu1Temp', 'CPU1 Temp', 'temperature', 'Cel', 'CPU'], isOn ? 46 : null, 3, 98),
    sensor(['Fan1', 'Fan1 RPM', 'fan', 'RPM', 'SystemBoard'], isOn ? 6480 : 0, isOn ? 600 : null, null),
    sensor(['Fan2', 'Fan2 RPM', 'fan', 'RPM', 'SystemBoard'], isOn ? 6600 : 0, isOn ? 600 : null, null),
    sensor(['Psu1Voltage', 'PSU1 Voltage', 'voltage', 'V', 'PowerSupply'], 230, 180, 264),
    sensor(['PowerConsumption', 'Power Consumption', 'power', 'W', 'PowerSupply'], watts, null, 1000),
  ]
}
