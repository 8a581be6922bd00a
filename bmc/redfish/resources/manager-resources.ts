import { uuidOf } from '../../../base/runtime/index.js'
import { dellParts, managerLinks } from '../idrac/idrac-service.js'
import { configurationActions } from '../idrac/system-configuration.js'
import { checkAction, checkPatch, choiceCheck, textCheck } from '../protocol/value-checks.js'
import {
  makeCollection,
  resourceHead,
  referenceTo,
  redfishPath,
  enabledStatus,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { ofMachine, ofService, type MachineCall, type RedfishResource } from '../protocol/resource.js'
import { memberReferences } from './further-resources.js'
import { VIRTUAL_MEDIA_RESOURCES } from './virtual-media-resources.js'

/** A date with time and offset. The form alone would let a thirteenth month through. */
const DATE_TIME_PATTERN = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/
const moment = textCheck({
  form: { test: (value) => DATE_TIME_PATTERN.test(value) && !Number.isNaN(Date.parse(value)) },
  says: 'a time with its offset, as in 2026-01-31T12:00:00+00:00',
})
const OFFSET = textCheck({ form: /^[+-]([01]\d|2[0-3]):[0-5]\d$/, says: 'an offset from UTC, as in +01:00' })

const offsetOf = (offset: string): number => {
  const [hours, minutes] = offset.slice(1).split(':').map(Number)
  return (offset.startsWith('-') ? -1 : 1) * (hours! * 60 + minutes!) * 60_000
}

/** Ironic compares this text with what it has set, whose offset is written with digits (redfish management.py set_bmc_clock). */
function formatBmcTime({ machine, service }: MachineCall): string {
  const { ahead, offset } = machine.firmware.bmcClock
  const local = new Date(service.clock.now() + ahead + offsetOf(offset))
  return local.toISOString().replace(/\.\d+Z$/, offset)
}

async function setClock(call: MachineCall): Promise<void> {
  const { machine, body, service } = call
  checkPatch(body, { DateTime: moment, DateTimeLocalOffset: OFFSET }, managerOf(call))
  const { ahead, offset } = machine.firmware.bmcClock
  await machine.firmware.setBmcClock({
    ahead: body['DateTime'] === undefined ? ahead : Date.parse(String(body['DateTime'])) - service.clock.now(),
    offset: String(body['DateTimeLocalOffset'] ?? offset),
  })
}

function managerOf(call: MachineCall): RedfishDocument {
  const { machine, service } = call
  const { spec, firmware } = machine
  const bmc = firmware.versions().find(({ component }) => component === 'bmc')
  const own = (...more: string[]) => referenceTo('Managers', spec.id, ...more)
  return {
    ...resourceHead('Manager', ['Managers', spec.id], `Manager of ${spec.id}`),
    ManagerType: 'BMC',
    Model: bmc?.model ?? null,
    Manufacturer: spec.manufacturer,
    UUID: uuidOf(`bmc ${spec.id} ${spec.serial}`),
    ServiceEntryPointUUID: service.uuid,
    FirmwareVersion: bmc?.version ?? null,
    DateTime: formatBmcTime(call),
    DateTimeLocalOffset: firmware.bmcClock.offset,
    PowerState: 'On',
    Status: enabledStatus(),
    CommandShell: { ServiceEnabled: false, MaxConcurrentSessions: 0, ConnectTypesSupported: [] },
    VirtualMedia: own('VirtualMedia'),
    LogServices: own('LogServices'),
    Links: {
      ManagerForServers: [referenceTo('Systems', spec.id)],
      ManagerForChassis: [referenceTo('Chassis', spec.id)],
      ManagerInChassis: referenceTo('Chassis', spec.id),
      ...dellParts(machine, managerLinks(machine)),
    },
    Actions: {
      '#Manager.Reset': {
        target: redfishPath('Managers', spec.id, 'Actions', 'Manager.Reset'),
        'ResetType@Redfish.AllowableValues': call.spoken.dialect.power.managerResets,
      },
      ...dellParts(machine, { Oem: configurationActions(machine) }),
    },
  }
}

/** Managers: the BMC of each machine. */
export const MANAGER_RESOURCES: readonly RedfishResource[] = [
  ofService('/Managers', {
    reads: 'read managers',
    get: ({ service, caller }) =>
      makeCollection(
        'ManagerCollection',
        ['Managers'],
        'Managers',
        memberReferences('Managers', caller ? service.visible(caller) : []),
      ),
  }),
  ofMachine('/Managers/{machine}', {
    reads: 'read manager',
    changes: 'set bmc clock',
    get: managerOf,
    patch: setClock,
  }),
  ofMachine('/Managers/{machine}/Actions/Manager.Reset', {
    reads: 'reset bmc',
    post: ({ machine, body, spoken }) => {
      checkAction('Manager.Reset', body, { ResetType: choiceCheck(spoken.dialect.power.managerResets) })
      machine.firmware.signal('bmc reset', { warm: body['ResetType'] === 'GracefulRestart' })
    },
  }),
  ...VIRTUAL_MEDIA_RESOURCES,
]
