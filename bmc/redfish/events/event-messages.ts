import type { LogEntry, LogKind } from '../../../machine/index.js'
import type { RedfishDocument } from '../protocol/redfish-document.js'

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
export function eventMessage({ kind, detail }: LogEntry): RedfishDocument {
  const { key, severity, sentence } = EVENT_MESSAGES[kind]
  return {
    Severity: severity,
    MessageSeverity: severity,
    Message: sentence.replace('%1', () => detail.replace(/\.$/, '')),
    MessageId: `${EVENT_REGISTRY.prefix}.${EVENT_REGISTRY.version}.${key}`,
    MessageArgs: sentence.includes('%1') ? [detail] : [],
  }
}
