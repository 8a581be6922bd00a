import type { LogEntry, LogKind } from '../../../machine/index.js'
import { COMPLETION, IpmiCommandError } from '../protocol/completion.js'
import { littleEndian, NET_FN, type IpmiCall, type IpmiCommand } from './command.js'

/** A sensor whose events are in the SEL, and which has no reading. */
export interface EventSensor {
  readonly number: number
  readonly name: string
  /** Sensor type; IPMI 2.0, table 42-3. */
  readonly type: number
}

const sensor = (number: number, name: string, type: number): EventSensor => ({ number, name, type })

export const EVENT_SENSORS = {
  power: sensor(0x80, 'Power State', 0x22),
  start: sensor(0x81, 'System Restart', 0x1d),
  boot: sensor(0x82, 'OS Boot', 0x1f),
  bootError: sensor(0x83, 'Boot Error', 0x1e),
  stop: sensor(0x84, 'OS Stop', 0x20),
  interrupt: sensor(0x85, 'NMI', 0x13),
  log: sensor(0x86, 'Event Log', 0x10),
  version: sensor(0x87, 'Version Change', 0x2b),
} as const

interface Event {
  sensor: EventSensor
  offset: number
}

/** The event of an entry; undefined for one that has none in IPMI, such as an inserted medium. */
function eventOf({ kind, detail }: LogEntry): Event | undefined {
  const { power, start, boot, bootError, stop, interrupt, log, version } = EVENT_SENSORS
  const events: Readonly<Record<LogKind, Event | undefined>> = {
    // S0/G0 and S4/S5.
    'power on': { sensor: power, offset: 0 },
    'power off': { sensor: power, offset: 6 },
    // By a hard reset.
    reset: { sensor: start, offset: 1 },
    boot: { sensor: boot, offset: BOOTED_FROM[detail] ?? 6 },
    'boot failed': /: (kernel panic|emergency shell)(:|$)/.test(detail)
      ? { sensor: stop, offset: 0 }
      : { sensor: bootError, offset: 0 },
    'firmware updated': { sensor: version, offset: 1 },
    nmi: { sensor: interrupt, offset: 0 },
    // The log area was cleared.
    cleared: { sensor: log, offset: 2 },
    'media inserted': undefined,
    'media ejected': undefined,
    'bios applied': undefined,
    'bmc reset': undefined,
  }
  return events[kind]
}

/** Offsets of a boot from C:, PXE and CD. */
const BOOTED_FROM: Readonly<Record<string, number | undefined>> = { disk: 1, pxe: 2, iso: 4, cdrom: 4 }

interface SelRecord {
  id: number
  at: number
  bytes: number[]
}

const NO_RECORD = 0xffff
const RECORD_LENGTH = 16
const SENSOR_SPECIFIC = 0x6f

function records({ bmc: { machine } }: IpmiCall): SelRecord[] {
  return machine.firmware.log.entries.flatMap((entry) => {
    const event = eventOf(entry)
    if (!event) return []
    const id = ((entry.id - 1) % (NO_RECORD - 1)) + 1
    const seconds = Math.floor(entry.at / 1000)
    const { type, number } = event.sensor
    const bytes = [
      ...littleEndian(id, 2),
      // A system event, from the BMC, in the form of IPMI 2.0.
      0x02,
      ...littleEndian(seconds, 4),
      0x20,
      0x00,
      0x04,
      type,
      number,
      SENSOR_SPECIFIC,
      event.offset,
      0xff,
      0xff,
    ]
    return [{ id, at: seconds, bytes }]
  })
}

/** Most entries of the log, which is the machine's. */
const MAX_SEL_ENTRIES = 100

function readSelInfo(call: IpmiCall): number[] {
  const all = records(call)
  const cleared = call.bmc.machine.firmware.log.entries.findLast(({ kind }) => kind === 'cleared')
  return [
    0x51,
    ...littleEndian(all.length, 2),
    ...littleEndian((MAX_SEL_ENTRIES - all.length) * RECORD_LENGTH, 2),
    ...littleEndian(all.at(-1)?.at ?? 0xffffffff, 4),
    ...littleEndian(cleared ? Math.floor(cleared.at / 1000) : 0xffffffff, 4),
    // Reservations.
    0x02,
  ]
}

function readSelEntry(call: IpmiCall): number[] {
  const { data, bmc } = call
  const reservation = data.readUInt16LE(0)
  const wanted = data.readUInt16LE(2)
  const offset = data[4]!
  const count = data[5]!
  if ((offset !== 0 || reservation !== 0) && !bmc.memory.sel.is(reservation))
    throw new IpmiCommandError(COMPLETION.reservationCanceled)
  const all = records(call)
  const index = wanted === 0 ? 0 : wanted === NO_RECORD ? all.length - 1 : all.findIndex(({ id }) => id === wanted)
  const found = all[index]
  if (!found) throw new IpmiCommandError(COMPLETION.notPresent)
  if (offset >= RECORD_LENGTH) throw new IpmiCommandError(COMPLETION.invalidField)
  return [...littleEndian(all[index + 1]?.id ?? NO_RECORD, 2), ...found.bytes.slice(offset, offset + count)]
}

async function clear({ bmc: { machine, memory }, data }: IpmiCall): Promise<number[]> {
  if (!memory.sel.is(data.readUInt16LE(0))) throw new IpmiCommandError(COMPLETION.reservationCanceled)
  if (data.toString('latin1', 2, 5) !== 'CLR') throw new IpmiCommandError(COMPLETION.invalidField)
  if (data[5] === 0xaa) {
    await machine.firmware.clearLog()
    memory.sel.cancel()
  } else if (data[5] !== 0) throw new IpmiCommandError(COMPLETION.invalidField)
  // The erasure is completed.
  return [0x01]
}

/** The system event log: what happened to the machine, as its BMC's log has it. */
export const SEL_COMMANDS: readonly IpmiCommand[] = [
  {
    title: 'Get SEL Info',
    netFn: NET_FN.storage,
    command: 0x40,
    call: 'read log',
    privilege: 'user',
    length: [0, 0],
    run: readSelInfo,
  },
  {
    title: 'Reserve SEL',
    netFn: NET_FN.storage,
    command: 0x42,
    call: 'read log',
    privilege: 'user',
    length: [0, 0],
    run: ({ bmc }) => littleEndian(bmc.memory.sel.take(), 2),
  },
  {
    title: 'Get SEL Entry',
    netFn: NET_FN.storage,
    command: 0x43,
    call: 'read log',
    privilege: 'user',
    length: [6, 6],
    run: readSelEntry,
  },
  {
    title: 'Clear SEL',
    netFn: NET_FN.storage,
    command: 0x47,
    call: 'change log',
    privilege: 'operator',
    length: [6, 6],
    run: clear,
  },
  {
    title: 'Get SEL Time',
    netFn: NET_FN.storage,
    command: 0x48,
    call: 'read log',
    privilege: 'user',
    length: [0, 0],
    run: ({ bmc: { clock } }) => littleEndian(Math.floor(clock.now() / 1000), 4),
  },
]
