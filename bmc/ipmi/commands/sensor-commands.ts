import { sensorsOf, type SensorReading } from '../../../machine/index.js'
import { COMPLETION, IpmiCommandError } from '../protocol/completion.js'
import { NET_FN, type IpmiCall, type IpmiCommand } from './command.js'
import { rawOf, SENSOR_FORMS } from './sensor-form.js'
import { thresholdsOf } from './sdr-commands.js'

/** @throws CommandFailed for an unknown sensor, and for one without readings */
function sensorIn({ bmc: { machine }, data }: IpmiCall): SensorReading {
  const found = sensorsOf(machine.spec, machine.power())[data[0]! - 1]
  if (!found) throw new IpmiCommandError(COMPLETION.notPresent)
  return found
}

/** Scanning is on; a sensor without a reading says so. */
const SCANNING = 0x40
const UNAVAILABLE = 0x20

function readSensorValue(call: IpmiCall): number[] {
  const sensor = sensorIn(call)
  const { kind, reading: value, lower, upper } = sensor
  if (value === null) return [0, SCANNING | UNAVAILABLE, 0xc0]
  const isLow = lower !== null && value <= lower
  const isHigh = upper !== null && value >= upper
  return [rawOf(kind, value), SCANNING, 0xc0 | (isLow ? 0x02 : 0) | (isHigh ? 0x10 : 0)]
}

function thresholds(call: IpmiCall): number[] {
  const sensor = sensorIn(call)
  const { kind, lower, upper } = sensor
  const limit = (value: number | null): number => (value === null ? 0 : rawOf(kind, value))
  // Lower non-critical, critical, non-recoverable; then the upper ones.
  return [thresholdsOf(sensor), 0, limit(lower), 0, 0, limit(upper), 0]
}

const reads = { call: 'read sensors', privilege: 'user' } as const

export const SENSOR_COMMANDS: readonly IpmiCommand[] = [
  {
    title: 'Get Sensor Hysteresis',
    netFn: NET_FN.sensor,
    command: 0x25,
    ...reads,
    length: [2, 2],
    run: (call) => (sensorIn(call), [0, 0]),
  },
  {
    title: 'Get Sensor Thresholds',
    netFn: NET_FN.sensor,
    command: 0x27,
    ...reads,
    length: [1, 1],
    run: thresholds,
  },
  {
    title: 'Get Sensor Event Enable',
    netFn: NET_FN.sensor,
    command: 0x29,
    ...reads,
    length: [1, 1],
    // No threshold makes events.
    run: (call) => (sensorIn(call), [SCANNING]),
  },
  {
    title: 'Get Sensor Event Status',
    netFn: NET_FN.sensor,
    command: 0x2b,
    ...reads,
    length: [1, 1],
    run: (call) => [SCANNING | (sensorIn(call).reading === null ? UNAVAILABLE : 0), 0, 0],
  },
  {
    title: 'Get Sensor Reading',
    netFn: NET_FN.sensor,
    command: 0x2d,
    ...reads,
    length: [1, 1],
    run: readSensorValue,
  },
  {
    title: 'Get Sensor Type',
    netFn: NET_FN.sensor,
    command: 0x2f,
    ...reads,
    length: [1, 1],
    // Events and readings are those of thresholds.
    run: (call) => [SENSOR_FORMS[sensorIn(call).kind].type, 0x01],
  },
]
