import { dialectOf } from '../../dialects/index.js'
import { sensorsOf, type MachineSpec, type SensorReading } from '../../../machine/index.js'
import { COMPLETION, IpmiCommandError } from '../protocol/completion.js'
import { littleEndian, NET_FN, type IpmiCall, type IpmiCommand } from './command.js'
import { ENTITIES, rawOf, SENSOR_FORMS } from './sensor-form.js'
import { EVENT_SENSORS, type EventSensor } from './sel-commands.js'

const SDR_VERSION = 0x51
const FULL_SENSOR_RECORD = 0x01
const EVENT_ONLY = 0x03
const CONTROLLER = 0x12
const BMC = 0x20

/** Bits of the thresholds that a sensor has: lower and upper critical. */
const LOWER_CRITICAL = 0x02
const UPPER_CRITICAL = 0x10

export const thresholdsOf = ({ lower, upper }: SensorReading): number =>
  (lower === null ? 0 : LOWER_CRITICAL) | (upper === null ? 0 : UPPER_CRITICAL)

const nameBytes = (name: string): number[] => {
  const bytes = Buffer.from(name, 'latin1').subarray(0, 16)
  return [0xc0 | bytes.length, ...bytes]
}

function makeSdrRecord(id: number, type: number, body: readonly number[]): Buffer {
  return Buffer.from([...littleEndian(id, 2), SDR_VERSION, type, body.length, ...body])
}

/** A full sensor record; IPMI 2.0, table 43-1. */
function fullRecord(id: number, instance: number, name: string, sensor: SensorReading): Buffer {
  const { kind, lower, upper, context } = sensor
  const { type, unit, step, isSigned } = SENSOR_FORMS[kind]
  const thresholds = thresholdsOf(sensor)
  const limit = (value: number | null): number => (value === null ? 0 : rawOf(kind, value))
  const threshold = 0x01
  return makeSdrRecord(id, FULL_SENSOR_RECORD, [
    BMC,
    0,
    // The sensors have the numbers of their records.
    id,
    ENTITIES[context],
    instance,
    // Scanning is on; thresholds can be read; events come from no threshold.
    0x01,
    thresholds === 0 ? 0x03 : 0x47,
    type,
    threshold,
    0,
    0,
    0,
    0,
    thresholds,
    0,
    isSigned ? 0x80 : 0,
    unit,
    0,
    0,
    // Linear: the byte times the step.
    step & 0xff,
    (step >> 8) << 6,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    isSigned ? 0x7f : 0xff,
    isSigned ? 0x80 : 0,
    0,
    limit(upper),
    0,
    0,
    limit(lower),
    0,
    0,
    0,
    0,
    0,
    0,
    ...nameBytes(name),
  ])
}

/** An event-only record; IPMI 2.0, table 43-3. */
function eventRecord(id: number, { number, type, name }: EventSensor): Buffer {
  const sensorSpecific = 0x6f
  const system = 0x07
  return makeSdrRecord(id, EVENT_ONLY, [
    BMC,
    0,
    number,
    system,
    1,
    type,
    sensorSpecific,
    1,
    0,
    0,
    0,
    ...nameBytes(name),
  ])
}

/** A management controller locator record; IPMI 2.0, table 43-8. */
function controllerRecord(id: number): Buffer {
  const managementController = 0x06
  return makeSdrRecord(id, CONTROLLER, [BMC, 0, 0, 0x8f, 0, 0, 0, managementController, 1, 0, ...nameBytes('BMC')])
}

/** The sensors of a machine, whose numbers count up from 1. */
function recordsOf(spec: MachineSpec): Buffer[] {
  // The limits of a fan show while the machine is on.
  const sensors = sensorsOf(spec, 'on')
  const names: Readonly<Record<string, string | undefined>> = dialectOf(spec).ipmi.sensors
  const full = sensors.map((sensor, index) => {
    const before = sensors.slice(0, index + 1).filter(({ context }) => context === sensor.context)
    return fullRecord(index + 1, before.length, names[sensor.id] ?? sensor.name, sensor)
  })
  const events = Object.values(EVENT_SENSORS).map((each, index) => eventRecord(full.length + 1 + index, each))
  return [...full, ...events, controllerRecord(full.length + events.length + 1)]
}

const NO_RECORD = 0xffff

function readSdrInfo({ bmc: { machine } }: IpmiCall): number[] {
  const { length } = recordsOf(machine.spec)
  // No room is free; nothing was added or erased. Reservations.
  return [SDR_VERSION, ...littleEndian(length, 2), 0, 0, ...littleEndian(0, 4), ...littleEndian(0, 4), 0x02]
}

function readSdr({ bmc: { machine, memory }, data }: IpmiCall): number[] {
  const reservation = data.readUInt16LE(0)
  const wanted = data.readUInt16LE(2)
  const offset = data[4]!
  const count = data[5]!
  // A record that is read at once needs no reservation.
  if ((offset !== 0 || reservation !== 0) && !memory.sdr.is(reservation))
    throw new IpmiCommandError(COMPLETION.reservationCanceled)
  const all = recordsOf(machine.spec)
  const index = wanted === 0 ? 0 : wanted === NO_RECORD ? all.length - 1 : wanted - 1
  const found = all[index]
  if (!found) throw new IpmiCommandError(COMPLETION.notPresent)
  if (offset >= found.length) throw new IpmiCommandError(COMPLETION.outOfRange)
  const next = index + 1 < all.length ? index + 2 : NO_RECORD
  return [...littleEndian(next, 2), ...found.subarray(offset, offset + count)]
}

export const SDR_COMMANDS: readonly IpmiCommand[] = [
  {
    title: 'Get SDR Repository Info',
    netFn: NET_FN.storage,
    command: 0x20,
    call: 'read sensors',
    privilege: 'user',
    length: [0, 0],
    run: readSdrInfo,
  },
  {
    title: 'Reserve SDR Repository',
    netFn: NET_FN.storage,
    command: 0x22,
    call: 'read sensors',
    privilege: 'user',
    length: [0, 0],
    run: ({ bmc }) => littleEndian(bmc.memory.sdr.take(), 2),
  },
  {
    title: 'Get SDR',
    netFn: NET_FN.storage,
    command: 0x23,
    call: 'read sensors',
    privilege: 'user',
    length: [6, 6],
    run: readSdr,
  },
]
