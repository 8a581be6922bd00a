/** Both protocols as data: what Ironic and the agent say to each other and to clients. */
export {
  AgentApiError,
  agentClient,
  type AgentClient,
  AgentConnectionFailed,
  AgentInProgress,
  type AgentPeer,
} from './agent/agent-client.js'
export {
  COMMAND_STATUSES,
  type CommandError,
  type CommandList,
  type CommandRequest,
  type CommandResult,
  type CommandStatus,
  type GetStepsResult,
  type ManagerVersions,
} from './agent/command-results.js'
export { AgentError, agentErrors, type AgentErrorType, agentFault, agentFaults } from './agent/errors.js'
export { type CollectedTlv, parseLldp, switchPortOf } from './agent/parse-lldp.js'
export type { InspectionBody, Inventory, InventoryCpu, InventoryDisk, InventoryInterface } from './agent/inventory.js'
export {
  AGENT_VERSION,
  HEARTBEAT_VERSION,
  type HeartbeatBody,
  LOOKUP_VERSION,
  type LookupAnswer,
  lowerVersion,
  MASKED_TOKEN,
  parseInspectionAnswer,
  parseIronicRoot,
  parseLookupAnswer,
  MIN_AGENT_TOKEN_LENGTH,
} from './agent/ironic-calls.js'
export { AGENT_OPERATIONS, type AgentOperation, type AgentOperationId } from './agent/agent-operations.js'
export { pythonRepr, formatClientValue } from './python/python-repr.js'
export { ERRORS } from './errors.js'
export {
  answerOfBytes,
  answerOfFile,
  answerOfStream,
  ConnectionFailed,
  type Dispatch,
  fileOf,
  type OutgoingRequest,
  streamToSend,
  type Transport,
  type WireRequest,
  type WireResponse,
} from './wire-exchange.js'
export { HintError } from './hints/python-values.js'
export { type HintedDevice, parseRootDeviceHints, satisfiesHints } from './hints/root-device-hints.js'
export { listen } from './listen.js'
export {
  type BodyLimits,
  type HttpServer,
  type HttpServerOptions,
  serveHttp,
  type TlsIdentity,
  type TlsOptions,
} from './http-server.js'
export { type ClientTls, HttpTransport } from './http-transport.js'
export { InProcessTransport } from './in-process-transport.js'
export { askAgain, isIronicAway } from './ironic/ask-again.js'
export { type ApiNode, type ApiPort, IronicClient, IronicRefused, ironicSentence } from './ironic/ironic-client.js'
export { IronicError, ironicErrorBody, ironicErrors } from './ironic/errors.js'
export type { TableField, VersionedField } from './ironic/field-table.js'
export type { JsonSchema } from './ironic/json-schema.js'
export {
  formatMicroversion,
  LATER_ROOT_RESOURCES,
  MAX_MICROVERSION,
  type Microversion,
  MIN_MICROVERSION,
  negotiate,
  rangeHeaders,
  ROOT_RESOURCES,
  SINCE,
  VERSION_HEADER,
} from './ironic/microversion.js'
export { findListedDigest, type ListedDigest } from './images/checksum-list.js'
export { networkDataSchema } from './ironic/network-data.js'
export {
  NODE_DEFAULTS,
  NODE_DERIVED_FIELDS,
  NODE_FIELDS,
  NODE_LIST_FIELDS,
  NODE_RECORD_FIELDS,
  nodeSchema,
  PATCHABLE_NODE_FIELDS,
  patchedNodeSchema,
  STATES_FIELDS,
} from './ironic/node-fields.js'
export type {
  BiosSettingRecord,
  FirmwareComponentRecord,
  NodeLists,
  NodeListKind as NodeListKind,
} from './ironic/node-lists.js'
export {
  DRIVER_INTERFACES,
  type DriverInterface,
  type NodeFault,
  type JsonObject,
  type NodeRecord,
  type PortRecord,
  type PowerState,
  PROVISION_STATES,
  type ProvisionState,
} from './ironic/node.js'
export type { CallArgSchema, CallArgs, DocumentOf, IronicOperation } from './ironic/ironic-operation.js'
export { IRONIC_OPERATIONS, type OperationId, type OperationOf } from './ironic/operations/index.js'
export { LOGICAL_DISK_PROPERTIES, raidConfigSchema } from './ironic/raid.js'
export {
  PATCHABLE_PORT_FIELDS,
  PORT_DEFAULTS,
  PORT_DERIVED_FIELDS,
  PORT_FIELDS,
  PORT_LIST_FIELDS,
  PORT_RECORD_FIELDS,
  PORT_REQUEST_FIELDS,
  portSchema,
} from './ironic/port-fields.js'
export { IRONIC_RELEASES, type IronicRelease } from './ironic/ironic-releases.js'
export { PATCHABLE, RESOURCE_FIELDS } from './ironic/resource-fields.js'
export {
  allocationSchema,
  allocationWithoutNodeSchema,
  chassisSchema,
  deployTemplateSchema,
  inspectionRuleSchema,
  portgroupSchema,
  RULE_ACTIONS,
  RULE_CONDITIONS,
  type RuleOperator,
  runbookSchema,
  runbookStepSchema,
  templateStepSchema,
  traitRunbookSchema,
  volumeConnectorSchema,
  volumeTargetSchema,
} from './ironic/resource-schemas.js'
export type {
  AllocationRecord,
  DeployTemplateRecord,
  DeployTemplateStep,
  InspectionRuleAction,
  InspectionRuleCondition,
  InspectionRuleRecord,
  PortgroupRecord,
  ResourceKind,
  ResourceRecords,
  RunbookRecord,
  RunbookStep,
} from './ironic/ironic-resources.js'
export {
  deployStepsSchema,
  inspectionDataSchema,
  type PatchOperation,
  localLinkConnectionSchema,
  MEDIA_DEVICES,
  type MediaDevice,
  orderedStepsSchema,
  patchSchema,
} from './ironic/ironic-schemas.js'
export { traitSchema } from './ironic/traits.js'
export { Mounts } from './mounts.js'
export { openApi } from './openapi-document.js'
export { fileBody, probedDownloads, probedFiles } from './probed-files.js'
export { type ExchangePoint, isExchange, type Parties, probeTransport, probedDispatch, urlTargetOf } from './probed.js'
export {
  type AdvertisedStep,
  type ArgsInfo,
  type RequestedStep,
  STEP_INTERFACES,
  type StepInterface,
  type StepKind,
} from './step-kinds.js'
