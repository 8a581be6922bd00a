/// <reference types="node" preserve="true" />
/** `ironstage`: labs, their nodes, faults, events and clock, and the writing of steps. */
export {
  errorChain,
  hours,
  minutes,
  ClockIdleError,
  seconds,
  silent,
  UserError,
  type Clock,
  type ErrorCatalogues,
  type ErrorCode,
  type ErrorEntry,
  type Logger,
  type MovableClock,
  type HoldOptions,
  type SleepOptions,
} from '../base/runtime/index.js'
export {
  createLab,
  installCoreos,
  type DeployRequest,
  type EnrollOptions,
  type Lab,
  type LabBoot,
  type LabEvent,
  type LabEvents,
  type SharedCommit,
  type LabMachine,
  type LabNode,
  type LabOptions,
  type LiveImagesRequest,
  type NodeImage,
  type LabSnapshots,
  type NodeImageRegistry,
  type LabSnapshot,
  type Snapshots,
} from '../lab/index.js'
export type { Fault, FaultEffect, FaultMatch, LabFaults } from '../control/index.js'
export {
  defineStep,
  type HardwareManager,
  type InstallCoreosArgs,
  type Step,
  type StepContext,
  type StepDefinition,
} from '../steps/index.js'
export { type Target } from '../targets/index.js'
export { type DialectChoice, type DialectName, type OwnDialect } from '../bmc/dialects/index.js'
export {
  defaultMachineSpec,
  withHardware,
  type DiskSpec,
  type FirstBoot,
  type HardwareFleet,
  type MachineHardware,
  type MachineSpec,
  type NewDisk,
  type NicDriver,
  type LldpNeighbour,
  type LldpVlan,
  type NicSpec,
  type SwitchSystemName,
} from '../machine/index.js'
export { type IronicConfigRequest, type ProfileName } from '../ironic-mock/index.js'
export {
  IRONIC_RELEASES,
  IronicRefused,
  type ApiNode,
  type ApiPort,
  type DriverInterface,
  type IronicClient,
  type IronicRelease,
  type JsonObject,
  type NodeRecord,
  type PortRecord,
  type PowerState,
  type ProvisionState,
  type RequestedStep,
} from '../base/wire/index.js'
