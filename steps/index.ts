/** Steps on a target: the step SDK, the steps, hardware facts and images. */
export { eraseDevices, eraseDevicesMetadata } from './erase-devices/erase-devices.js'
export { ERRORS } from './errors.js'
export {
  containerHardwareManager,
  coreosHardwareManager,
  genericHardwareManager,
  standardManagers,
} from './hardware-managers.js'
export { type BlockDevice, listBlockDevices } from './hardware/block-devices.js'
export { bootMode } from './hardware/boot-mode.js'
export { createBootEntry } from './hardware/efi.js'
export { nodeWithHints } from './hardware/node-with-hints.js'
export { type Partition, type PartitionTable, readPartitions } from './hardware/read-partitions.js'
export { readHardware, type TargetHardware } from './hardware/read-hardware.js'
export { chooseRootDevice, rootDeviceHints } from './hardware/root-device.js'
export { stepHardware, type StepHardware } from './hardware/step-hardware.js'
export type { CachedImage, ImageCacheOptions, ImageEntry } from './images/cached-image.js'
export { ImageCache } from './images/image-cache.js'
export { type ImageReach, stageFile, stageFromCache, stageStreamed, stageUncached } from './images/stage-image.js'
export type { InstallCoreosArgs } from './install-coreos/args.js'
export { installCoreos } from './install-coreos/install-coreos.js'
export { makeUnbootable } from './install-coreos/unbootable.js'
export type { ArgSchema, ArgsOf, ArgsSchema, SchemaType } from './sdk/arg-types.js'
export { managersWith } from './sdk/custom-managers.js'
export { defineStep, type StepDefinition } from './sdk/define-step.js'
export {
  CommandFailed,
  runToEnd,
  type FinishedCommand,
  runCommand,
  type RunOptions,
  printCommand,
} from './sdk/run-command.js'
export {
  BadStepArguments,
  type HardwareManager,
  type ImageRules,
  type ManagerStart,
  type StepProgress,
  type Step,
  type StepContext,
  StepError,
  type StepSurroundings,
} from './sdk/step.js'
export type { FileBody, HttpThrough, ProxySettings, SentRequest, ServerAnswer } from '../base/bytes/index.js'
