import { systemClock } from '../../../base/runtime/index.js'
import { commandPower, systemUuid, type Machine } from '../../../machine/index.js'
import { dellParts, systemLinks } from '../idrac/idrac-service.js'
import { checkAction, checkPatch, choiceCheck } from '../protocol/value-checks.js'
import {
  makeCollection,
  resourceHead,
  referenceTo,
  redfishPath,
  enabledStatus,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { messageRefusal } from '../protocol/redfish-refusal.js'
import {
  ofMachine,
  ofService,
  type MachineCall,
  type RedfishOutcome,
  type RedfishResource,
} from '../protocol/resource.js'
import { CPU_MODELS } from './processor-resources.js'
import { indicatorCheck, indicatorOf, setIndicator } from './indicators.js'
import { bootCheck, bootOf, changeBoot } from './boot-resources.js'

function systemDocumentOf({ machine }: Pick<MachineCall, 'machine'>): RedfishDocument {
  const { spec, firmware } = machine
  const report = firmware.report()
  const own = (...more: string[]) => referenceTo('Systems', spec.id, ...more)
  return {
    ...resourceHead('ComputerSystem', ['Systems', spec.id], spec.name ?? spec.id),
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
    Status: { ...enabledStatus(report.health), HealthRollup: report.health },
    Boot: bootOf(machine),
    BootProgress: { LastState: progressOf(machine) },
    ProcessorSummary: {
      Count: 1,
      CoreCount: spec.cpus,
      LogicalProcessorCount: spec.cpus,
      Model: CPU_MODELS[spec.architecture],
      Status: { ...enabledStatus(), HealthRollup: 'OK' },
    },
    MemorySummary: { TotalSystemMemoryGiB: spec.memoryMib / 1024, Status: { ...enabledStatus(), HealthRollup: 'OK' } },
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
      Chassis: [referenceTo('Chassis', spec.id)],
      ManagedBy: [referenceTo('Managers', spec.id)],
      ...dellParts(machine, systemLinks(machine)),
    },
    Actions: {
      '#ComputerSystem.Reset': {
        target: redfishPath('Systems', spec.id, 'Actions', 'ComputerSystem.Reset'),
        'ResetType@Redfish.AllowableValues': SYSTEM_RESETS,
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

const SYSTEM_RESETS = [
  ...(['On', 'ForceOn', 'ForceOff', 'GracefulShutdown', 'GracefulRestart', 'ForceRestart'] as const),
  ...(['PushPowerButton', 'PowerCycle', 'Nmi'] as const),
] as const

/** Milliseconds of wall time after which a reset is answered even if the machine has not changed its power yet, as BMCs do. */
const RESET_ANSWER_TIMEOUT = 100
/** Seconds after which a client may try again, while earlier resets are carried out. */
const RESET_RETRY_AFTER = '5'

/** Carries out a reset of a system or a chassis, whose actions have the same values. */
export const reset =
  (action: 'ComputerSystem.Reset' | 'Chassis.Reset') =>
  async ({ machine, body, service }: MachineCall): Promise<RedfishOutcome | void> => {
    checkAction(action, body, { ResetType: choiceCheck(SYSTEM_RESETS) })
    const type = (body['ResetType'] ?? 'On') as (typeof SYSTEM_RESETS)[number]
    const isOn = machine.power() === 'on'
    if (!isOn && ['GracefulShutdown', 'GracefulRestart', 'ForceRestart', 'PowerCycle', 'Nmi'].includes(type))
      throw messageRefusal(409, 'ChassisPowerStateOnRequired', [machine.spec.id], { resolution: 'Switch it on first.' })
    if (type === 'Nmi') return machine.firmware.signal('nmi')
    const { target, soft = false } = POWER_OF[type] ?? (isOn ? SHUTDOWN : SWITCH_ON)
    const options = { soft, timeout: RESET_ANSWER_TIMEOUT, clock: systemClock(), logger: service.logger }
    if (await commandPower(machine, target, options)) return
    throw messageRefusal(503, 'ServiceTemporarilyUnavailable', [RESET_RETRY_AFTER], {
      resolution: 'Wait until the power has changed.',
      headers: { 'retry-after': RESET_RETRY_AFTER },
    })
  }

interface PowerChange {
  target: 'on' | 'off' | 'reboot'
  soft?: boolean
}

const SWITCH_ON: PowerChange = { target: 'on' }
const SHUTDOWN: PowerChange = { target: 'off', soft: true }

/** The changes of resets. A press of the power button is missing: it depends on the power. */
const POWER_OF: Readonly<Partial<Record<(typeof SYSTEM_RESETS)[number], PowerChange>>> = {
  On: SWITCH_ON,
  ForceOn: SWITCH_ON,
  ForceOff: { target: 'off' },
  GracefulShutdown: SHUTDOWN,
  GracefulRestart: { target: 'reboot', soft: true },
  ForceRestart: { target: 'reboot' },
  PowerCycle: { target: 'reboot' },
}

export const RESET_TYPES: readonly string[] = SYSTEM_RESETS

/** Systems: one a machine. */
export const SYSTEM_RESOURCES: readonly RedfishResource[] = [
  ofService('/Systems', {
    reads: 'read systems',
    get: ({ service, caller }) =>
      makeCollection(
        'ComputerSystemCollection',
        ['Systems'],
        'Systems',
        (caller ? service.visible(caller) : []).map(({ spec }) => referenceTo('Systems', spec.id)),
      ),
  }),
  ofMachine('/Systems/{machine}', {
    reads: 'read power',
    changes: 'set boot',
    get: systemDocumentOf,
    patch: async ({ machine, body }) => {
      checkPatch(body, { Boot: bootCheck(machine), IndicatorLED: indicatorCheck }, systemDocumentOf({ machine }))
      if (body['Boot'] !== undefined) await changeBoot(machine, body['Boot'] as RedfishDocument)
      if (body['IndicatorLED'] !== undefined) await setIndicator(machine, 'system', body['IndicatorLED'])
    },
  }),
  ofMachine('/Systems/{machine}/Actions/ComputerSystem.Reset', {
    reads: 'set power',
    post: reset('ComputerSystem.Reset'),
  }),
]
