import { systemClock } from '../../runtime/index.js'
import { commandPower, systemUuid, type Machine } from '../../machine/index.js'
import { dellParts, systemLinks } from '../idrac/idrac.js'
import { checkAction, checkPatch, oneOf } from '../protocol/checks.js'
import { collection, head, link, pathOf, status, type Document } from '../protocol/document.js'
import { refused } from '../protocol/refusal.js'
import { ofMachine, ofService, type MachineCall, type Outcome, type Resource } from '../protocol/resource.js'
import { CPU_MODELS } from './processors.js'
import { indicator, indicatorOf, setIndicator } from './indicators.js'
import { boot, bootOf, changeBoot } from './boot.js'

function systemOf({ machine }: Pick<MachineCall, 'machine'>): Document {
  const { spec, firmware } = machine
  const report = firmware.report()
  const own = (...more: string[]) => link('Systems', spec.id, ...more)
  return {
    ...head('ComputerSystem', ['Systems', spec.id], spec.name ?? spec.id),
    SystemType: 'Physical',
    Manufacturer: spec.manufacturer,
    Model: spec.product,
    SerialNumber: spec.serial,
    // Dell's service tag, which Ironic's inspection takes for the serial number.
    ...dellParts(machine, { SKU: spec.serial }),
    UUID: systemUuid(spec),
    AssetTag: String(report.bios.find(({ name }) => name === 'AssetTag')?.value ?? ''),
    BiosVersion: report.firmware.find(({ component }) => component === 'bios')?.version ?? '',
    PowerState: machine.power() === 'on' ? 'On' : 'Off',
    IndicatorLED: indicatorOf(machine, 'system'),
    Status: { ...status(report.health), HealthRollup: report.health },
    Boot: bootOf(machine),
    BootProgress: { LastState: progressOf(machine) },
    ProcessorSummary: {
      Count: 1,
      CoreCount: spec.cpus,
      LogicalProcessorCount: spec.cpus,
      Model: CPU_MODELS[spec.architecture],
      Status: { ...status(), HealthRollup: 'OK' },
    },
    MemorySummary: { TotalSystemMemoryGiB: spec.memoryMib / 1024, Status: { ...status(), HealthRollup: 'OK' } },
    Bios: own('Bios'),
    SecureBoot: own('SecureBoot'),
    EthernetInterfaces: own('EthernetInterfaces'),
    VirtualMedia: own('VirtualMedia'),
    Storage: own('Storage'),
    SimpleStorage: own('SimpleStorage'),
    Processors: own('Processors'),
    Memory: own('Memory'),
    LogServices: own('LogServices'),
    Links: {
      Chassis: [link('Chassis', spec.id)],
      ManagedBy: [link('Managers', spec.id)],
      ...dellParts(machine, systemLinks(machine)),
    },
    Actions: {
      '#ComputerSystem.Reset': {
        target: pathOf('Systems', spec.id, 'Actions', 'ComputerSystem.Reset'),
        'ResetType@Redfish.AllowableValues': RESETS,
      },
    },
  }
}

function progressOf(machine: Machine): string {
  if (machine.power() === 'off') return 'None'
  switch (machine.boot()?.outcome) {
    case undefined:
    case 'no bootable device':
      return 'SystemHardwareInitializationComplete'
    case 'kernel panic':
    case 'emergency shell':
      return 'OSBootStarted'
    default:
      return 'OSRunning'
  }
}

const RESETS = [
  ...(['On', 'ForceOn', 'ForceOff', 'GracefulShutdown', 'GracefulRestart', 'ForceRestart'] as const),
  ...(['PushPowerButton', 'PowerCycle', 'Nmi'] as const),
] as const

/** Milliseconds of wall time after which a reset is answered even if the machine has not changed its power yet, as BMCs do. */
const ANSWER_TIMEOUT = 100
/** Seconds after which a client may try again, while earlier resets are carried out. */
const BUSY_FOR = '5'

/** Carries out a reset of a system or a chassis, whose actions have the same values. */
export const reset =
  (action: 'ComputerSystem.Reset' | 'Chassis.Reset') =>
  async ({ machine, body, service }: MachineCall): Promise<Outcome | void> => {
    checkAction(action, body, { ResetType: oneOf(RESETS) })
    const type = (body['ResetType'] ?? 'On') as (typeof RESETS)[number]
    const isOn = machine.power() === 'on'
    if (!isOn && ['GracefulShutdown', 'GracefulRestart', 'ForceRestart', 'PowerCycle', 'Nmi'].includes(type))
      throw refused(409, 'ChassisPowerStateOnRequired', [machine.spec.id], { resolution: 'Switch it on first.' })
    if (type === 'Nmi') return machine.firmware.signal('nmi')
    const { target, soft = false } = POWER_OF[type] ?? (isOn ? SHUTDOWN : SWITCH_ON)
    const options = { soft, timeout: ANSWER_TIMEOUT, clock: systemClock(), logger: service.logger }
    if (await commandPower(machine, target, options)) return
    throw refused(503, 'ServiceTemporarilyUnavailable', [BUSY_FOR], {
      resolution: 'Wait until the power has changed.',
      headers: { 'retry-after': BUSY_FOR },
    })
  }

interface PowerChange {
  target: 'on' | 'off' | 'reboot'
  soft?: boolean
}

const SWITCH_ON: PowerChange = { target: 'on' }
const SHUTDOWN: PowerChange = { target: 'off', soft: true }

/** The changes of resets. A press of the power button is missing: it depends on the power. */
const POWER_OF: Readonly<Partial<Record<(typeof RESETS)[number], PowerChange>>> = {
  On: SWITCH_ON,
  ForceOn: SWITCH_ON,
  ForceOff: { target: 'off' },
  GracefulShutdown: SHUTDOWN,
  GracefulRestart: { target: 'reboot', soft: true },
  ForceRestart: { target: 'reboot' },
  PowerCycle: { target: 'reboot' },
}

export const RESET_TYPES: readonly string[] = RESETS

/** Systems: one a machine. */
export const SYSTEM_RESOURCES: readonly Resource[] = [
  ofService('/Systems', {
    reads: 'read systems',
    get: ({ service, caller }) =>
      collection(
        'ComputerSystemCollection',
        ['Systems'],
        'Systems',
        (caller ? service.visible(caller) : []).map(({ spec }) => link('Systems', spec.id)),
      ),
  }),
  ofMachine('/Systems/{machine}', {
    reads: 'read power',
    changes: 'set boot',
    get: systemOf,
    patch: async ({ machine, body }) => {
      checkPatch(body, { Boot: boot(machine), IndicatorLED: indicator }, systemOf({ machine }))
      if (body['Boot'] !== undefined) await changeBoot(machine, body['Boot'] as Document)
      if (body['IndicatorLED'] !== undefined) await setIndicator(machine, 'system', body['IndicatorLED'])
    },
  }),
  ofMachine('/Systems/{machine}/Actions/ComputerSystem.Reset', {
    reads: 'set power',
    post: reset('ComputerSystem.Reset'),
  }),
]
