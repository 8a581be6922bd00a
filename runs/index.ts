/** Implementation of `deploy`, `agent` and `step run`, from a request to a report. */
export { openRealAgent, type RealAgent, type RealAgentOptions } from './agents/real-agent.js'
export { openStandaloneAgent, type StandaloneAgent, type StandaloneAgentOptions } from './agents/standalone-agent.js'
export { withBootNonce } from './deployments/boot-nonce.js'
export { type DeploymentEvent, type StageName, STAGES } from './deployments/deployment-events.js'
export type { Check, DeploymentReport } from './deployments/deployment-report.js'
export { deploymentHtml, type DeploymentOutcome } from './deployments/deployment-html.js'
export { type DeploymentOptions, runDeployment } from './deployments/deployment.js'
export { type RealDeploymentOptions, runRealDeployment } from './deployments/real-deployment.js'
export { type BootImageOptions, generateBootImage } from './downloads/boot-image-files.js'
export { type Download, downloadArtifacts, type DownloadOptions, fileName } from './downloads/downloads.js'
export { buildMachineOs, type MachineOsBuild } from './downloads/machine-os.js'
export { openImages, type RegistrySettings } from './downloads/open-images.js'
export { isStreamFile, openStream, type StreamRequest } from './downloads/stream-source.js'
export { chosenDisk } from './deployments/real-first-boot.js'
export { ERRORS } from './errors.js'
export type { NewMachine } from './one-machine.js'
export { knownStep, runStep, type StepRunEvent, type StepRunOptions, type StepRunResult } from './steps/run-step.js'
export { loadManagers } from './steps/step-files.js'
export {
  CAPABILITIES,
  openRealTarget,
  planText,
  type RealTarget,
  type RealTargetOptions,
  type RealTargetRequest,
} from './targets/real-target.js'
export { sshAccess, type SshRequest } from './targets/ssh-access.js'
