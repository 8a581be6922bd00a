/// <reference types="node" preserve="true" />
/** `ironstage/control`: the journal and the faults of a lab, as tests and the control API see them. */
export { controlOpenApi } from '../lab/index.js'
export type {
  AddedFault,
  BmcEntry,
  CommandEntry,
  EntryHead,
  ExchangeEntry,
  FaultEntry,
  FaultReport,
  JournalEntry,
  JournalKind,
  JournalQuery,
  LabEntry,
  LabJournal,
  MachineEntry,
  Message,
  NearMiss,
  StateEntry,
} from '../lab/index.js'
