/** What acts on a target: the step SDK, the steps, executors, hardware. */
export * from './executors/executor.js'
export * from './executors/supervised/login-shell.js'
export { TargetRebooted, type Envelope, type TargetFacts } from './executors/supervised/conversation.js'
export { localShell } from './executors/supervised/local-shell.js'
export {
  SupervisedExecutor,
  type PreparedCommand,
  type SupervisedOptions,
} from './executors/supervised/supervised-executor.js'
export { diskSelector, type DiskSelector } from './executors/disks/selector.js'
export { type FoundDisk, type GuardedTarget } from './executors/disks/guarded-target.js'
export { openLocalTarget, type LocalTarget, type LocalTargetOptions } from './executors/local/local-target.js'
export { RunRefused, UnknownRun } from './executors/supervised/supervised-run.js'
export * from './sdk.js'
export { parseSshTarget, type SshAddress } from './executors/ssh/address.js'
export { parsePins } from './executors/ssh/host-keys.js'
export type { SshSurroundings } from './executors/ssh/host-settings.js'
export { compareIdentities, type HostIdentity } from './executors/ssh/identity.js'
export type { SecretQuestion, SecretSource } from './executors/ssh/secrets.js'
export { openSshShell, type SshShell, type SshShellOptions } from './executors/ssh/ssh-shell.js'
export { openSshTarget, sshDiskSelector, type SshTarget, type SshTargetOptions } from './executors/ssh/ssh-target.js'
export {
  BootNotVerified,
  verifyBoot,
  type BootCheck,
  type BootNonce,
  type ExpectedBoot,
  type VerifiedBoot,
  type VerifyBootOptions,
} from './executors/ssh/verify-boot.js'
export type { ArgsOf, SchemaType } from './arg-types.js'
export { defineStep, type ArgSchema, type ArgsSchema, type StepDefinition } from './define-step.js'
export {
  containerHardwareManager,
  coreosHardwareManager,
  genericHardwareManager,
  standardManagers,
} from './hardware-managers.js'
export { nodeWithHints } from './hardware/node-with-hints.js'
export { managersWith } from './custom-managers.js'
export { planTarget, type PlannedWrite } from './executors/plan.js'
export { stepHardware, type StepHardware } from './hardware/step-hardware.js'
export { CommandFailed, finish, runCommand, shown, type Finished, type RunOptions } from './run-command.js'
export { eraseDevices, eraseDevicesMetadata } from './erase-devices/erase-devices.js'
export { installCoreos } from './install-coreos/install-coreos.js'
export type { InstallArgs } from './install-coreos/args.js'
export { listBlockDevices, type BlockDevice } from './hardware/block-devices.js'
export { bootMode } from './hardware/boot-mode.js'
export { readHardware, type TargetHardware } from './hardware/read-hardware.js'
export { readPartitions, type Partition, type PartitionTable } from './hardware/partitions.js'
export { createBootEntry } from './hardware/efi.js'
export { chooseRootDevice, rootDeviceHints } from './hardware/root-device.js'
export type { Asset, StageAsset, StagedAsset } from './images/asset.js'
export type { ImageRecord } from './images/cache-folder.js'
export {
  ImageCache,
  type CachedImage,
  type ImageCacheOptions,
  type ImageEntry,
  type Pruned,
} from './images/image-cache.js'
export { FEDORA_STREAMS, fetchStreamText, imageOfStream, type StreamRequest } from './images/stream-image.js'
export { stageFromCache, stageStreamed, stageUncached, type Reach, type StagingOptions } from './images/stage-image.js'
export { makeUnbootable } from './install-coreos/unbootable.js'
