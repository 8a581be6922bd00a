import type { SensorReading } from '../../../machine/index.js'

/** How the readings of a kind of sensors become a byte. */
interface SensorForm {
  /** Sensor type; IPMI 2.0, table 42-3. */
  readonly type: number
  /** Base unit; IPMI 2.0, table 43-15. */
  readonly unit: number
  /** One step of the byte, in units. */
  readonly step: number
  readonly isSigned: boolean
}

export const SENSOR_FORMS: Readonly<Record<SensorReading['kind'], SensorForm>> = {
  temperature: { type: 0x01, unit: 1, step: 1, isSigned: true },
  voltage: { type: 0x02, unit: 4, step: 2, isSigned: false },
  fan: { type: 0x04, unit: 18, step: 60, isSigned: false },
  // Other units-based sensor.
  power: { type: 0x0b, unit: 6, step: 5, isSigned: false },
}

/** Entity ids of what a sensor belongs to; IPMI 2.0, table 43-13. */
export const ENTITIES: Readonly<Record<SensorReading['context'], number>> = {
  // Air inlet, processor, system board, power supply.
  Intake: 0x37,
  CPU: 0x03,
  SystemBoard: 0x07,
  PowerSupply: 0x0a,
}

/** A value in the byte of a sensor: the nearest that it can have. */
export function rawOf(kind: SensorReading['kind'], value: number): number {
  const { step, isSigned } = SENSOR_FORMS[kind]
  const [least, most] = isSigned ? [-128, 127] : [0, 255]
  return Math.min(most, Math.max(least, Math.round(value / step))) & 0xff
}
