/** Targets of steps: executors for this host and SSH, plans, confinement and the disk policy. */
export type { ImageAsset, StageAsset, StagedAsset, StageAssetOptions } from './asset.js'
export type { FoundDisk, GuardedTarget } from './disks/guarded-target.js'
export { diskSelector } from './disks/selector.js'
export { ERRORS } from './errors.js'
export type {
  TargetCapability,
  TargetCommand,
  DiskPolicy,
  Executor,
  CommandExit,
  TargetFiles,
  OutputChunk,
  CommandOutput,
  RunningCommand,
  RunId,
  Target,
} from './executor.js'
export { localReadiness, type LocalReadiness } from './local/local-readiness.js'
export { openLocalTarget } from './local/local-target.js'
export { type PlannedWrite, planTarget } from './plan-target.js'
export { parseSshTarget } from './ssh/address.js'
export { parsePins } from './ssh/host-keys.js'
export { compareIdentities, type HostIdentity, IDENTITY_SCRIPT, SCRIPT_LINE } from './ssh/ssh-identity.js'
export type { SecretQuestion, SecretSource } from './ssh/ssh-secrets.js'
export { fingerprintOf, newSshKey, publicKeyOf } from './ssh/ssh-keys.js'
export { openSshShell, type SshShell, type SshShellOptions } from './ssh/ssh-shell.js'
export { openSshTarget, sshDiskSelector, type SshTarget } from './ssh/ssh-target.js'
export { type BootNonce, type VerifiedBoot, verifyBoot, type VerifyBootOptions } from './ssh/verify-boot.js'
export { localShell } from './supervised/local-shell.js'
export { LinkLost, type LoginShell } from './supervised/login-shell.js'
export { shellLine, shellWord } from './supervised/shell-words.js'
export { SupervisedExecutor, type SupervisedOptions } from './supervised/supervised-executor.js'
