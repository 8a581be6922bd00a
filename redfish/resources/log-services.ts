import type { LogEntry, LogKind } from '../../machine/index.js'
import { checkAction } from '../protocol/checks.js'
import { collection, head, link, pathOf, status, type Document } from '../protocol/document.js'
import { ofMachine, type MachineCall, type Resource } from '../protocol/resource.js'
import { refused } from '../protocol/refusal.js'

/** Prefix and version of the registry of what happens to machines. */
export const EVENT_REGISTRY = { prefix: 'MachineEvent', version: '1.0' } as const

interface EventMessage {
  key: string
  severity: 'OK' | 'Warning' | 'Critical'
  /** `%1` stands for the detail. */
  sentence: string
}

/** Messages by the kind of a log entry. */
export const EVENT_MESSAGES: Readonly<Record<LogKind, EventMessage>> = {
  'power on': { key: 'PowerOn', severity: 'OK', sentence: 'The system was powered on.' },
  'power off': { key: 'PowerOff', severity: 'OK', sentence: 'The system was powered off.' },
  reset: { key: 'Reset', severity: 'OK', sentence: 'The system was reset.' },
  boot: { key: 'Booted', severity: 'OK', sentence: 'The system has booted from %1.' },
  'boot failed': { key: 'BootFailed', severity: 'Critical', sentence: 'The system did not boot: %1.' },
  'media inserted': { key: 'MediaInserted', severity: 'OK', sentence: 'A virtual medium was inserted: %1.' },
  'media ejected': { key: 'MediaEjected', severity: 'OK', sentence: 'A virtual medium was ejected: %1.' },
  'firmware updated': { key: 'FirmwareUpdated', severity: 'OK', sentence: 'Firmware was updated: %1.' },
  'bios applied': { key: 'BiosApplied', severity: 'OK', sentence: 'BIOS settings were applied: %1.' },
  'bmc reset': { key: 'ManagerReset', severity: 'Warning', sentence: 'The manager was reset.' },
  nmi: { key: 'Nmi', severity: 'Warning', sentence: 'The system got a non-maskable interrupt.' },
  cleared: { key: 'LogCleared', severity: 'OK', sentence: 'The log was cleared.' },
}

/** An entry's message, as events and logs have it. */
export function eventMessage({ kind, detail }: LogEntry): Document {
  const { key, severity, sentence } = EVENT_MESSAGES[kind]
  return {
    Severity: severity,
    MessageSeverity: severity,
    Message: sentence.replace('%1', () => detail.replace(/\.$/, '')),
    MessageId: `${EVENT_REGISTRY.prefix}.${EVENT_REGISTRY.version}.${key}`,
    MessageArgs: sentence.includes('%1') ? [detail] : [],
  }
}

type Parent = 'Systems' | 'Managers'
const LOG = 'EventLog'

const entryOf = (path: readonly string[], machine: string, entry: LogEntry): Document => {
  const { MessageSeverity: _, ...said } = eventMessage(entry)
  return {
    ...head('LogEntry', [...path, 'Entries', String(entry.id)], `Log entry ${entry.id}`),
    EntryType: 'Event',
    Created: new Date(entry.at).toISOString(),
    ...said,
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
          ...{ ServiceEnabled: true, LogEntryType: 'Event', OverWritePolicy: 'WrapsWhenFull', MaxNumberOfRecords: 100 },
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
