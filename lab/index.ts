/// <reference types="node" preserve="true" />
/** Ironic, machines, agents, clock and faults composed; what the package exports. */
export { hours, minutes, seconds, UserError, VirtualClock, type Clock, type Logger } from '../runtime/index.js'
export {
  createLab,
  installCoreos,
  type EnrollOptions,
  type InstallCoreosArgs,
  type Lab,
  type LabOptions,
} from './create-lab.js'
export type { LabEvent } from './events.js'
export { type Fault, type FaultEffect, type FaultMatch, type Faults } from './faults.js'
export type { Phase } from './phase.js'
export { LabNode, type Deployment } from './lab-node.js'
export {
  checkState,
  exportState,
  repairState,
  type CheckedDatabase,
  type RepairedDatabase,
} from './state/state-files.js'
export { openStateFolder, type StateFolder } from './state-folder.js'
export { SimulatedRegistry, type NodeImage, type RegistryFault } from './registry.js'
export {
  Cluster,
  provisionNode,
  type BootImage,
  type ClusterRelease,
  type ClusterRole,
  type ImageDrift,
  type ProvisioningRequest,
} from './cluster/cluster.js'
export { servedVersion } from './cluster/served-version.js'
export type { ImagesGate } from './cluster/start-gate.js'
export { rebootUnprovisioned } from './cluster/unprovisioned-hosts.js'
export { CONDUCTOR_HOST, stage, type Stage, type StageOptions } from './stage.js'
export {
  CAPABILITIES,
  openRealTarget,
  planText,
  type RealTarget,
  type RealTargetOptions,
  type RealTargetRequest,
} from './real-target.js'
export { openRealAgent, type RealAgent, type RealAgentOptions } from './real-agent.js'
export { runRealDeployment, type RealDeploymentOptions } from './real-deployment.js'
export { runDeployment, type DeploymentOptions } from './deployment.js'
export { STAGES, type DeploymentEvent, type StageName } from './deployment-events.js'
export type { Check, DeploymentReport } from './deployment-report.js'
export type { NewMachine } from './one-machine.js'
export type { ConfigFile } from '../agent/index.js'
export { openStandaloneAgent, type StandaloneAgent, type StandaloneAgentOptions } from './standalone-agent.js'
export { serve, type Served, type ServeOptions } from './serve.js'
export {
  basicAuthorization,
  PROFILES,
  repetitionText,
  type IronicConfigRequest,
  type ProfileName,
} from '../ironic-mock/index.js'
export { IRONIC_RELEASES, type ClientTls, type IronicRelease } from '../wire/index.js'
export { openApi } from './openapi.js'
export { openImageCache, streamImage, type ImageCacheRequest } from './image-staging.js'
export { type ImageCache, type ImageEntry } from '../steps/index.js'
export { EXAMPLE_IGNITION, REHEARSAL_IMAGE, REHEARSAL_LIVE_ISO } from './paths.js'
export type { LiveImagesRequest } from './live-images.js'
export { errorChain, silent, systemClock, systemRandom, urlSafeToken, userError } from '../runtime/index.js'
export { loadManagers } from './step-files.js'
export { knownStep, runStep, type StepRunEvent, type StepRunOptions, type StepRunResult } from './run-step.js'
export {
  BadStepArguments,
  CommandFailed,
  defineStep,
  finish,
  listBlockDevices,
  managersWith,
  planTarget,
  readPartitions,
  runCommand,
  shown,
  standardManagers,
  StepError,
  stepHardware,
  type ArgSchema,
  type ArgsOf,
  type ArgsSchema,
  type BlockDevice,
  type Capability,
  type Command,
  type DiskPolicy,
  type Executor,
  type Exit,
  type Files,
  type Finished,
  type HardwareManager,
  type OutputChunk,
  type Partition,
  type PartitionTable,
  type PlannedWrite,
  type Progress,
  type Run,
  type RunOptions,
  type SecretQuestion,
  type SecretSource,
  type Step,
  type StepContext,
  type StepDefinition,
  type StepHardware,
  type StepSurroundings,
  type Target,
} from '../steps/index.js'
export {
  defaultMachineSpec,
  HARDWARE_SCHEMA,
  identityIn,
  installToFile,
  withHardware,
  type DiskSpec,
  type FileInstallation,
  type FleetEntry,
  type HardwareFleet,
  type Machine,
  type MachineHardware,
  type MachineSpec,
} from '../machine/index.js'
export type { AdvertisedStep, JsonObject, RequestedStep, StepInterface, StepKind } from '../wire/index.js'
export {
  butaneVariant,
  dataUrlBytes,
  findingLine,
  ignitionSchema,
  isExperimental,
  mergeAll,
  NEWEST_STABLE,
  parseIgnition,
  readIgnition,
  renderIgnition,
  resourceBytes,
  SPEC_VERSIONS,
  summarizeIgnition,
  translateIgnition,
  validateIgnition,
  type Finding,
  type IgnitionReport,
  type SpecConfig,
  type SpecVersion,
} from '../ignition/index.js'
export {
  agentConfig,
  agentOf,
  shownAddress,
  type AgentConfigOptions,
  type AgentOnCoreos,
  type AgentTemplate,
  type AgentTls,
} from '../ignition/index.js'
export { addressForBmcs, isEveryAddress, isLoopback } from './own-address.js'
export { ignitionFetch } from './ignition-fetch.js'
export {
  bytesSource,
  checkConsole,
  customize,
  customizePxe,
  doing,
  editLiveKargs,
  failureText,
  IGNITION_FILE,
  isSystemError,
  keyfileFiles,
  keyfilesAt,
  keyfilesIn,
  keyfilesText,
  LiveImageError,
  liveIpxeScript,
  liveKernelArguments,
  minimalIso,
  openFileSource,
  findLiveImages,
  openImageService,
  openLiveIso,
  type ImageService,
  type LiveImageFiles,
  type LiveUrls,
  overlay,
  pxeAppendParams,
  pxeFiles,
  readInitramfs,
  requireNetwork,
  streamOf,
  withoutKeyfiles,
  wrapFiles,
  type ByteSource,
  type Customization,
  type Customized,
  type Files as InitramfsFiles,
  type FileSource,
  type Keyfile,
  type LiveIso,
  type LivePxe,
  type NamedFile,
  type Patch,
} from '../ignition/index.js'
export { bmcAccess, type BmcAccess, type BmcAccount } from './baremetal-operator/bmc-access.js'
export type { Host, HostStatus } from './baremetal-operator/host.js'
export { BareMetalOperator, type OperatorOptions } from './baremetal-operator/operator.js'
export { explainHost, type ExplainOptions, type HostExplanation } from './baremetal-operator/explain.js'
export type { ExplainedCall } from './baremetal-operator/explained-calls.js'
export { manifestFindingLine, type ManifestFinding } from './baremetal-operator/read-manifests.js'
export { wantedHosts, type WantedHost } from './baremetal-operator/wanted-hosts.js'
export { generateBootImage, type BootImageOptions } from './streams/boot-image-files.js'
export { buildMachineOs, type MachineOsBuild } from './streams/machine-os.js'
export { downloadArtifacts, type Download, type DownloadOptions } from './streams/downloads.js'
export type { Reach } from './streams/reach.js'
export { openStream, type StreamRequest } from './streams/stream-source.js'
export {
  ami,
  bootImagesText,
  BOOT_IMAGE_PLATFORMS,
  bootImageFor,
  bootImageInfo,
  BUILD_META,
  buildContradictions,
  checkStream,
  cloudImage,
  compareVersions,
  CONTAINER,
  copyIso,
  copyMetal,
  copyPxe,
  diffStreams,
  documentText,
  FEDORA_BUILDS,
  imageFormat,
  metaToRelease,
  OS_VERSIONS,
  pinnedStream,
  publishStream,
  readMetadata,
  readReleaseImage,
  refuseBackInTime,
  RELEASE_INDEX,
  releaseOf,
  schemaProblems,
  shippedStream,
  serveStreams,
  STREAM,
  streamDisk,
  streamOfBuilds,
  updateStream,
  verifyMachineOs,
  withRelease,
  type Artifact,
  type BootImageInfo,
  type BootImagePlatform,
  type BuildMeta,
  type FileName,
  type Metadata,
  type OsVersion,
  type RegionalCloud,
  type Release,
  type ReleaseIndex,
  type Stream,
} from '../ignition/index.js'
