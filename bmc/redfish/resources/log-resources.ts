import type { LogEntry } from '../../../machine/index.js'
import { eventMessage } from '../events/event-messages.js'
import { checkAction } from '../protocol/value-checks.js'
import {
  makeCollection,
  resourceHead,
  referenceTo,
  redfishPath,
  enabledStatus,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { ofMachine, type MachineCall, type RedfishResource, type ResourceParent } from '../protocol/resource.js'
import { messageRefusal } from '../protocol/redfish-refusal.js'

const LOG = 'EventLog'

const logEntryDocument = (path: readonly string[], machine: string, entry: LogEntry): RedfishDocument => {
  const { MessageSeverity: _, ...text } = eventMessage(entry)
  return {
    ...resourceHead('LogEntry', [...path, 'Entries', String(entry.id)], `Log entry ${entry.id}`),
    EntryType: 'Event',
    Created: new Date(entry.at).toISOString(),
    ...text,
    Links: { OriginOfCondition: referenceTo('Systems', machine) },
  }
}

/** A log of a system or its manager; both show the BMC's entries. */
const logResources = (parent: ResourceParent): RedfishResource[] => {
  const pathOfLog = ({ machine }: MachineCall) => [parent, machine.spec.id, 'LogServices', LOG]
  const root = `/${parent}/{machine}/LogServices`
  const isThere = ({ params }: MachineCall) => params['log'] === LOG
  return [
    ofMachine(root, {
      reads: 'read log',
      get: (call) => {
        const path = [parent, call.machine.spec.id, 'LogServices']
        return makeCollection('LogServiceCollection', path, 'Log Services', [referenceTo(...path, LOG)])
      },
    }),
    ofMachine(`${root}/{log}`, {
      reads: 'read log',
      get: (call) => {
        const path = pathOfLog(call)
        if (!isThere(call)) return undefined
        return {
          ...resourceHead('LogService', path, 'Event Log'),
          ServiceEnabled: true,
          LogEntryType: 'Event',
          OverWritePolicy: 'WrapsWhenFull',
          MaxNumberOfRecords: 100,
          Status: enabledStatus(),
          Entries: referenceTo(...path, 'Entries'),
          Actions: { '#LogService.ClearLog': { target: redfishPath(...path, 'Actions', 'LogService.ClearLog') } },
        }
      },
    }),
    ofMachine(`${root}/{log}/Entries`, {
      reads: 'read log',
      get: (call) => {
        if (!isThere(call)) return undefined
        const path = pathOfLog(call)
        const { id } = call.machine.spec
        // The specification has entries in full, not as references.
        const entries = call.machine.firmware.log.entries.map((entry) => logEntryDocument(path, id, entry))
        return makeCollection('LogEntryCollection', [...path, 'Entries'], 'Log Entries', entries)
      },
    }),
    ofMachine(`${root}/{log}/Entries/{entry}`, {
      reads: 'read log',
      get: (call) => {
        const { machine, params } = call
        const found = machine.firmware.log.entries.find(({ id }) => String(id) === params['entry'])
        return found && isThere(call) ? logEntryDocument(pathOfLog(call), machine.spec.id, found) : undefined
      },
    }),
    ofMachine(`${root}/{log}/Actions/LogService.ClearLog`, {
      reads: 'change log',
      post: async (call) => {
        if (!isThere(call)) throw messageRefusal(404, 'ResourceNotFound', ['LogService', call.params['log']!])
        checkAction('LogService.ClearLog', call.body, {})
        await call.machine.firmware.clearLog()
      },
    }),
  ]
}

export const LOG_RESOURCES: readonly RedfishResource[] = [...logResources('Systems'), ...logResources('Managers')]
