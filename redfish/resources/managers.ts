import { uuidOf } from '../../runtime/index.js'
import { dellParts, managerLinks } from '../idrac/idrac.js'
import { configurationActions } from '../idrac/system-configuration.js'
import { checkAction, oneOf } from '../protocol/checks.js'
import { collection, head, link, pathOf, status, type Document } from '../protocol/document.js'
import { ofMachine, ofService, type MachineCall, type Resource } from '../protocol/resource.js'

const RESETS = ['GracefulRestart', 'ForceRestart']

function managerOf({ machine, service }: MachineCall): Document {
  const { spec, firmware } = machine
  const bmc = firmware.versions().find(({ component }) => component === 'bmc')
  const own = (...more: string[]) => link('Managers', spec.id, ...more)
  return {
    ...head('Manager', ['Managers', spec.id], `Manager of ${spec.id}`),
    ManagerType: 'BMC',
    Model: bmc?.model ?? null,
    Manufacturer: spec.manufacturer,
    UUID: uuidOf(`bmc ${spec.id} ${spec.serial}`),
    ServiceEntryPointUUID: service.uuid,
    FirmwareVersion: bmc?.version ?? null,
    DateTime: new Date(service.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z'),
    DateTimeLocalOffset: '+00:00',
    PowerState: 'On',
    Status: status(),
    CommandShell: { ServiceEnabled: false, MaxConcurrentSessions: 0, ConnectTypesSupported: [] },
    VirtualMedia: own('VirtualMedia'),
    LogServices: own('LogServices'),
    Links: {
      ManagerForServers: [link('Systems', spec.id)],
      ManagerForChassis: [link('Chassis', spec.id)],
      ManagerInChassis: link('Chassis', spec.id),
      ...dellParts(machine, managerLinks(machine)),
    },
    Actions: {
      '#Manager.Reset': {
        target: pathOf('Managers', spec.id, 'Actions', 'Manager.Reset'),
        'ResetType@Redfish.AllowableValues': RESETS,
      },
      ...dellParts(machine, { Oem: configurationActions(machine) }),
    },
  }
}

/** Managers: the BMC of each machine. */
export const MANAGER_RESOURCES: readonly Resource[] = [
  ofService('/Managers', {
    reads: 'read managers',
    get: ({ service, caller }) =>
      collection(
        'ManagerCollection',
        ['Managers'],
        'Managers',
        (caller ? service.visible(caller) : []).map(({ spec }) => link('Managers', spec.id)),
      ),
  }),
  ofMachine('/Managers/{machine}', { reads: 'read manager', get: managerOf }),
  ofMachine('/Managers/{machine}/Actions/Manager.Reset', {
    reads: 'reset bmc',
    post: ({ machine, body }) => {
      checkAction('Manager.Reset', body, { ResetType: oneOf(RESETS) })
      machine.firmware.signal('bmc reset', { warm: body['ResetType'] === 'GracefulRestart' })
    },
  }),
]
