/** Ironic, machines, agents, clock and faults, composed. */
export { openOnSavedPort, savedPorts } from './addresses/saved-port.js'
export { addressForBmcs, addressOf, addressTowards, everyAddress, isEveryAddress } from './addresses/own-address.js'
export { findNodeMachine } from './bmcs/bmcs.js'
export { chaos, type ChaosOptions, type ChaosReport, journalOf } from './chaos/chaos.js'
export { chaosTest, faultsYaml } from './chaos/chaos-text.js'
export { type ChaosInvariant, INVARIANTS, type InvariantViolation } from './chaos/invariants.js'
export type { ChaosAction, ChaosPlan, NodeGoal } from './chaos/chaos-plan.js'
export type { ChaosOutcome } from './chaos/play.js'
export { createLab, createStagedLab, installCoreos, type StagedLab, type StagedLabOptions } from './create-lab.js'
export { ERRORS } from './errors.js'
export type { LabEvent, LabEvents, SharedCommit } from './lab-events.js'
export { Journal } from './journal/journal.js'
export { ignitionFetch } from './images/ignition-fetch.js'
export {
  type ImageCacheRequest,
  openImageCache,
  realStaging,
  simulatedStaging,
  stagedFile,
  streamImage,
} from './images/image-staging.js'
export { StagedNode } from './lab-node.js'
export type { DeployRequest, EnrollOptions, Lab, LabBoot, LabMachine, LabNode, LabOptions } from './lab.js'
export { firmwareImages } from './bmcs/firmware-images.js'
export { linksIn, objectIn, type RedfishJson, textIn } from './bmcs/redfish/redfish-json.js'
export { type IpmiListener, listenForIpmi } from './bmcs/serve-ipmi.js'
export { accountProblem as ipmiAccountProblem } from '../bmc/ipmi/index.js'
export { clockMode } from './control/clock-control.js'
export { serveControl } from './control/serve-control.js'
export { type MachineControl, machineControl } from './control/machine-control.js'
export { ownIdentity } from './stage/stage-access.js'
export { type AgentBoot } from './stage/agents.js'
export { machineSpecs } from './stage/machine-specs.js'
export { bootNetwork } from './stage/stage-boot-network.js'
export type { LiveImagesRequest } from './images/live-images.js'
export { PAGE_PATH } from './page/dashboard-page.js'
export { attachTo, type LinkPoint, type PointOf } from './points.js'
export { EXAMPLE_IGNITION, REHEARSAL_IMAGE, REHEARSAL_LIVE_ISO } from './images/packaged-images.js'
export { REALISTIC_MACHINES } from './realistic-pace.js'
export { serve, type ServedLab, type ServeOptions } from './serve.js'
export type { AgentAddresses } from './stage/agent-addresses.js'
export { Agents } from './stage/agents.js'
export { type NodeImage, type NodeImageRegistry, type RegistryFault } from './stage/stage-registry.js'
export type { LabSnapshots, LabSnapshot, Snapshots } from './snapshots/snapshot.js'
export { composeStage, type Stage, type StageMember } from './stage/stage.js'
export type { HostLabels } from './faults/fault-context.js'
export type { StageOptions } from './stage/stage-options.js'
export {
  type CheckedDatabase,
  type RepairedDatabase,
  checkState,
  exportState,
  repairState,
} from './state/state-files.js'
export { openStateFolder, type StateFolder } from './state/state-folder.js'
