/// <reference types="node" preserve="true" />
/** `ironstage`: labs, their nodes, faults, events and clock, and the writing of steps. */
export {
  errorChain,
  hours,
  minutes,
  NothingLeftToHappen,
  seconds,
  silent,
  UserError,
  VirtualClock,
  type Clock,
  type ErrorCatalogues,
  type ErrorCode,
  type ErrorEntry,
  type Logger,
  type SleepOptions,
} from '../runtime/index.js'
export {
  createLab,
  installCoreos,
  type Deployment,
  type EnrollOptions,
  type Fault,
  type FaultEffect,
  type FaultMatch,
  type Faults,
  type Lab,
  type LabBoot,
  type LabEvent,
  type LabEvents,
  type LabMachine,
  type LabNode,
  type LabOptions,
  type LiveImagesRequest,
  type NodeImage,
  type NodeImageRegistry,
} from '../lab/index.js'
export {
  defineStep,
  type HardwareManager,
  type InstallCoreosArgs,
  type Step,
  type StepContext,
  type StepDefinition,
} from '../steps/index.js'
export { type Target } from '../targets/index.js'
export {
  defaultMachineSpec,
  withHardware,
  type DiskSpec,
  type FirstBoot,
  type HardwareFleet,
  type MachineHardware,
  type MachineSpec,
  type NicSpec,
} from '../machine/index.js'
export { type IronicConfigRequest } from '../ironic-mock/index.js'
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
} from '../wire/index.js'
