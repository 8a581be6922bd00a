import type { LogEntry } from '../../machine/index.js'
import { eventMessage } from '../events/event-messages.js'
import { checkAction } from '../protocol/checks.js'
import { collection, head, link, pathOf, status, type Document } from '../protocol/document.js'
import { ofMachine, type MachineCall, type Resource } from '../protocol/resource.js'
import { refused } from '../protocol/refusal.js'

type Parent = 'Systems' | 'Managers'
const LOG = 'EventLog'

const entryOf = (path: readonly string[], machine: string, entry: LogEntry): Document => {
  const { MessageSeverity: _, ...text } = eventMessage(entry)
  return {
    ...head('LogEntry', [...path, 'Entries', String(entry.id)], `Log entry ${entry.id}`),
    EntryType: 'Event',
    Created: new Date(entry.at).toISOString(),
    ...text,
    Links: { OriginOfCondition: link('Systems', machine) },
  }
}

/** A log of a system or its manager; both show the BMC's entries. */
const below = (parent: Parent): Resource[] => {
  const pathOfLog = ({ machine }: MachineCall) => [parent, machine.spec.id, 'LogServices', LOG]
  const root = `/${parent}/{machine}/LogServices`
  const isThere = ({ params }: MachineCall) => params['log'] === LOG
  return [
    ofMachine(root, {
      reads: 'read log',
      get: (call) => {
        const path = [parent, call.machine.spec.id, 'LogServices']
        return collection('LogServiceCollection', path, 'Log Services', [link(...path, LOG)])
      },
    }),
    ofMachine(`${root}/{log}`, {
      reads: 'read log',
      get: (call) => {
        const path = pathOfLog(call)
        if (!isThere(call)) return undefined
        return {
          ...head('LogService', path, 'Event Log'),
          ServiceEnabled: true,
          LogEntryType: 'Event',
          OverWritePolicy: 'WrapsWhenFull',
          MaxNumberOfRecords: 100,
          Status: status(),
          Entries: link(...path, 'Entries'),
          Actions: { '#LogService.ClearLog': { target: pathOf(...path, 'Actions', 'LogService.ClearLog') } },
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
        const entries = call.machine.firmware.log.entries.map((entry) => entryOf(path, id, entry))
        return collection('LogEntryCollection', [...path, 'Entries'], 'Log Entries', entries)
      },
    }),
    ofMachine(`${root}/{log}/Entries/{entry}`, {
      reads: 'read log',
      get: (call) => {
        const { machine, params } = call
        const found = machine.firmware.log.entries.find(({ id }) => String(id) === params['entry'])
        return found && isThere(call) ? entryOf(pathOfLog(call), machine.spec.id, found) : undefined
      },
    }),
    ofMachine(`${root}/{log}/Actions/LogService.ClearLog`, {
      reads: 'change log',
      post: async (call) => {
        if (!isThere(call)) throw refused(404, 'ResourceNotFound', ['LogService', call.params['log']!])
        checkAction('LogService.ClearLog', call.body, {})
        await call.machine.firmware.clearLog()
      },
    }),
  ]
}

export const LOG_RESOURCES: readonly Resource[] = [...below('Systems'), ...below('Managers')]
