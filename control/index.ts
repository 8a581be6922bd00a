/** The control API of a lab: its calls as data, the documents that they take and give, a client. */
export { fetchBy } from './client/fetch-by.js'
export { ControlRefused, LabClient, type LabClientOptions } from './client/lab-client.js'
export { machineBehind } from './client/machine-behind.js'
export type {
  AdvanceRequest,
  ClockReport,
  EnrollRequest,
  FaultDocument,
  FaultEffectDocument,
  JournalPage,
  LabDuration,
  LabReport,
  MissingProcess,
  NodeReport,
  PowerRequest,
  ProcessReport,
} from './documents/documents.js'
export type { ActivityPoint, ActivityReport } from './documents/activity-document.js'
export type {
  BmcAccount,
  BootReport,
  ConsoleEvent,
  InstalledFile,
  MachineReport,
  ShownFile,
  SystemJournalLine,
} from './documents/machine-documents.js'
export type { LabRecordings, ReplayReport, ReplayRequest } from './documents/replay-document.js'
export type { HostObject, WantedItem, WantedReport, WantedVerdict } from './documents/wanted-document.js'
export type { DiskDrawing } from '../machine/index.js'
export { ERRORS } from './errors.js'
export type { RunHost, RunProgress, RunStage } from './documents/run-document.js'
export {
  beginsWith,
  checkFault,
  involvesAgents,
  isRedfishRoute,
  isSamePath,
  pointsOf,
  routeOf,
} from './faults/check-fault.js'
export { effectText, membersText } from './faults/effect-text.js'
export { EXCHANGE_PARTIES } from './faults/exchange-parties.js'
export { FAULT_CHOICES, type EffectMember, type FaultChoice } from './faults/fault-choices.js'
export { faultFrom, readFaults } from './faults/fault-document.js'
export { faultDocument, readFaultsFile, writeFaultsFile } from './faults/faults-file.js'
export { FAULT } from './operations/control-schemas.js'
export {
  effectFacts,
  type EffectOf,
  type EffectPoint,
  type FaultEffect,
  type FaultKind,
} from './faults/fault-effects.js'
export type {
  AddedFault,
  ControlledFaults,
  Fault,
  FaultChange,
  FaultMatch,
  FaultReport,
  LabFaults,
} from './faults/fault.js'
export { entryLine } from './journal/entry-line.js'
export type {
  BmcEntry,
  CommandEntry,
  EntryHead,
  ExchangeEntry,
  ExchangeMessages,
  FaultEntry,
  JournalEntry,
  JournalKind,
  JournalMessage,
  LabEntry,
  MachineEntry,
  NearMiss,
  NewEntry,
  NewExchange,
  StateEntry,
  StepEntry,
} from './journal/entry.js'
export { beginsFlow, CALLER_ENDED, isFailure, isHeartbeatEntry } from './journal/journal-flow.js'
export type { JournalQuery, LabJournal } from './journal/journal-query.js'
export { maskValue, maskedText } from './masking.js'
export { CONTROL_VERSION, controlOpenApi } from './operations/control-openapi.js'
export {
  isAnswer,
  type ControlCall,
  type ControlHandler,
  type ControlOperation,
  type TypeOf,
  type TypedSchema,
} from './operations/control-operation.js'
export { CONTROL_OPERATIONS, type ControlOperationId } from './operations/control-operations.js'
export { LOOK_OPERATIONS } from './operations/look-operations.js'
export { MACHINE_OPERATIONS } from './operations/machine-operations.js'
export { checkRequest } from './operations/request-checks.js'
export type { ControlCalls } from './operations/typed-calls.js'
export type { TimelineCause } from './timeline/cause.js'
export type { EntryPlace } from './timeline/entry-place.js'
export type { TimelineMark } from './timeline/marks.js'
export { RETRY_VERBS, retryText, type RetryVerb } from './timeline/retry-verbs.js'
export {
  timelineOf,
  type AwaitedEvent,
  type NodeTimeline,
  type StateSpan,
  type StepSpan,
  type WallTime,
} from './timeline/timeline.js'
