/// <reference types="node" preserve="true" />
/** The package's exports, as `ironstage`: labs, their nodes, faults, events and clock, and the writing of steps. */
export {
  errorChain,
  hours,
  minutes,
  seconds,
  silent,
  UserError,
  VirtualClock,
  type Clock,
  type Logger,
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
  type NodeImage,
  type NodeImageRegistry,
  type Phase,
  type RegistryFault,
} from '../lab/index.js'
export {
  BadStepArguments,
  CommandFailed,
  defineStep,
  managersWith,
  readPartitions,
  runCommand,
  StepError,
  type HardwareManager,
  type InstallCoreosArgs,
  type Step,
  type StepContext,
  type StepDefinition,
} from '../steps/index.js'
export { type Executor, type Target } from '../targets/index.js'
export {
  defaultMachineSpec,
  HARDWARE_SCHEMA,
  withHardware,
  type DiskSpec,
  type HardwareFleet,
  type Machine,
  type MachineHardware,
  type MachineSpec,
} from '../machine/index.js'
export { type IronicConfigRequest, type ProfileName } from '../ironic-mock/index.js'
export {
  IRONIC_RELEASES,
  IronicClient,
  type AdvertisedStep,
  type ApiNode,
  type IronicRelease,
  type JsonObject,
  type RequestedStep,
} from '../wire/index.js'
