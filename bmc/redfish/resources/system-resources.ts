import { defined, ownMember, seconds, systemClock } from '../../../base/runtime/index.js'
import type { BmcDialect } from '../../dialects/index.js'
import { commandPower, delayedPower, latestPowerChange, systemUuid, type Machine } from '../../../machine/index.js'
import { situationRefusal } from '../dialects/situation-refusal.js'
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
import { PROCESSOR_RESOURCES, CPU_MODELS } from './processor-resources.js'
import { FURTHER_RESOURCES, memberReferences } from './further-resources.js'
import { indicatorCheck, indicatorOf, setIndicator } from './indicators.js'
import { BOOT_RESOURCES, bootCheck, bootOf, changeBoot, settingsLink } from './boot-resources.js'
import { BIOS_RESOURCES } from './bios-resources.js'
import { SECURE_BOOT_RESOURCES } from './secure-boot-resources.js'
import { ETHERNET_RESOURCES } from './ethernet-resources.js'
import { STORAGE_RESOURCES } from './storage-resources.js'

function systemDocumentOf(call: MachineCall): RedfishDocument {
  const { machine, spoken } = call
  const { spec, firmware } = machine
  const { dialect } = spoken
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
    PowerState: shownPower(call),
    IndicatorLED: indicatorOf(machine, 'system'),
    Status: { ...enabledStatus(report.health), HealthRollup: report.health },
    Boot: bootOf(machine, dialect, 'system'),
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
    ...mediaLink(machine, dialect),
    Storage: own('Storage'),
    SimpleStorage: own('SimpleStorage'),
    Processors: own('Processors'),
    Memory: own('Memory'),
    LogServices: own('LogServices'),
    ...settingsLink(machine, dialect),
    Links: {
      Chassis: [referenceTo('Chassis', spec.id)],
      ManagedBy: [referenceTo('Managers', spec.id)],
      ...dellParts(machine, systemLinks(machine)),
    },
    Actions: {
      '#ComputerSystem.Reset': {
        target: redfishPath('Systems', spec.id, 'Actions', 'ComputerSystem.Reset'),
        ...resetValues(machine, dialect),
      },
    },
  }
}

/** `PowerState`: some BMCs go on to show the older power for a while. */
export function shownPower({ machine, spoken, service }: MachineCall): 'On' | 'Off' {
  const delay = seconds(spoken.dialect.power.shownAfter)
  return delayedPower(machine, service.clock.now(), delay) === 'on' ? 'On' : 'Off'
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

/** Resets that need a machine which is on. */
const RESETS_OF_RUNNING = ['GracefulShutdown', 'GracefulRestart', 'ForceRestart', 'PowerCycle', 'Nmi']

/** Resets that would change nothing: for a machine that is on, and for one that is off. */
const REPEATS = {
  on: ['On', 'ForceOn'],
  off: ['ForceOff'],
} as const

/** @throws Refusal for a reset that this BMC does not carry out now */
function checkPowerState({ machine, spoken, service }: MachineCall, type: string): void {
  const { repeat, whenOff, settling } = spoken.dialect.power
  const power = machine.power()
  if (power === 'off' && RESETS_OF_RUNNING.includes(type))
    throw messageRefusal(whenOff, 'ChassisPowerStateOnRequired', [machine.spec.id], {
      resolution: 'Switch it on first.',
    })
  const repeats: readonly string[] = REPEATS[power]
  if (repeat !== 204 && repeats.includes(type))
    throw situationRefusal(spoken, 'repeat', repeat, 'ActionParameterValueConflict', ['ResetType', type], {
      property: 'ResetType',
      resolution: `The system is ${power} already.`,
    })
  const changed = latestPowerChange(machine)
  if (!settling || !changed || changed.kind === 'power on' || power === 'on') return
  if (service.clock.now() - changed.at >= seconds(settling.seconds)) return
  throw situationRefusal(spoken, 'settling', settling.status, 'ActionParameterValueConflict', ['ResetType', type], {
    property: 'ResetType',
    resolution: 'Try again in a while.',
  })
}

/** The values of a reset where the BMC lists them with the action. */
export function resetValues({ spec }: Machine, { power }: BmcDialect): RedfishDocument {
  const { resets, resetsBy } = power
  return defined({
    'ResetType@Redfish.AllowableValues': ['inline', 'both'].includes(resetsBy) ? resets : undefined,
    '@Redfish.ActionInfo': hasActionInfo(power) ? redfishPath('Systems', spec.id, 'ResetActionInfo') : undefined,
  })
}

const hasActionInfo = ({ resetsBy }: BmcDialect['power']): boolean => ['ActionInfo', 'both'].includes(resetsBy)

/** The values of a reset where the BMC has them in a resource of their own. */
function resetActionInfo({ machine, spoken }: MachineCall): RedfishDocument {
  return {
    '@odata.id': redfishPath('Systems', machine.spec.id, 'ResetActionInfo'),
    // No machine without a BMC of its own has this resource: the schema is not in $metadata.
    '@odata.type': '#ActionInfo.v1_1_2.ActionInfo',
    Id: 'ResetActionInfo',
    Name: 'Reset Action Info',
    Parameters: [
      {
        Name: 'ResetType',
        Required: true,
        DataType: 'String',
        AllowableValues: spoken.dialect.power.resets,
      },
    ],
  }
}

/** The link to the system's slots for virtual media, or to its manager's. */
function mediaLink({ spec }: Machine, { media }: BmcDialect): RedfishDocument {
  switch (media.systemLink) {
    case 'own':
      return { VirtualMedia: referenceTo('Systems', spec.id, 'VirtualMedia') }
    case 'manager':
      return { VirtualMedia: referenceTo('Managers', spec.id, 'VirtualMedia') }
    case 'absent':
      return {}
  }
}

/** Milliseconds of wall time after which a reset is answered even if the machine has not changed its power yet, as BMCs do. */
const RESET_ANSWER_TIMEOUT = 100
/** Seconds after which a client may try again, while earlier resets are carried out. */
const RESET_RETRY_AFTER = '5'

/** Carries out a reset of a system or a chassis, whose actions have the same values. */
export const reset =
  (action: 'ComputerSystem.Reset' | 'Chassis.Reset') =>
  async (call: MachineCall): Promise<RedfishOutcome | void> => {
    const { machine, body, service } = call
    checkAction(action, body, { ResetType: choiceCheck(call.spoken.dialect.power.resets) })
    const type = String(body['ResetType'] ?? 'On')
    const isOn = machine.power() === 'on'
    checkPowerState(call, type)
    if (type === 'Nmi') return machine.firmware.signal('nmi')
    const { target, soft = false } = ownMember(POWER_OF, type) ?? (isOn ? SHUTDOWN : SWITCH_ON)
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
const POWER_OF: Readonly<Record<string, PowerChange>> = {
  On: SWITCH_ON,
  ForceOn: SWITCH_ON,
  ForceOff: { target: 'off' },
  GracefulShutdown: SHUTDOWN,
  GracefulRestart: { target: 'reboot', soft: true },
  ForceRestart: { target: 'reboot' },
  PowerCycle: { target: 'reboot' },
}

/** Systems: one a machine. */
export const SYSTEM_RESOURCES: readonly RedfishResource[] = [
  ofService('/Systems', {
    reads: 'read systems',
    get: ({ service, caller }) =>
      makeCollection(
        'ComputerSystemCollection',
        ['Systems'],
        'Systems',
        memberReferences('Systems', caller ? service.visible(caller) : []),
      ),
  }),
  ofMachine('/Systems/{machine}', {
    reads: 'read power',
    changes: 'set boot',
    get: systemDocumentOf,
    patch: async (call) => {
      const { machine, body } = call
      checkPatch(body, { Boot: bootCheck(call, 'system'), IndicatorLED: indicatorCheck }, systemDocumentOf(call))
      if (body['Boot'] !== undefined) await changeBoot(call, body['Boot'] as RedfishDocument)
      if (body['IndicatorLED'] !== undefined) await setIndicator(machine, 'system', body['IndicatorLED'])
    },
  }),
  ofMachine('/Systems/{machine}/Actions/ComputerSystem.Reset', {
    reads: 'set power',
    post: reset('ComputerSystem.Reset'),
  }),
  ofMachine('/Systems/{machine}/ResetActionInfo', {
    reads: 'read power',
    offers: ({ spoken }) => hasActionInfo(spoken.dialect.power),
    get: resetActionInfo,
  }),
  ...BOOT_RESOURCES,
  ...BIOS_RESOURCES,
  ...SECURE_BOOT_RESOURCES,
  ...ETHERNET_RESOURCES,
  ...STORAGE_RESOURCES,
  ...PROCESSOR_RESOURCES,
  ...FURTHER_RESOURCES,
]
