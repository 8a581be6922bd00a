/** Implementation of `deploy`, `agent` and `step run`, from a request to a report. */
export { openRealAgent } from './agents/real-agent.js'
export { openStandaloneAgent, type StandaloneAgent, type StandaloneAgentOptions } from './agents/standalone-agent.js'
export { withBootNonce } from './deployments/boot-nonce.js'
export { type DeploymentEvent, type StageName, STAGES } from './deployments/deployment-events.js'
export type { DeploymentReport } from './deployments/deployment-report.js'
export { deploymentHtml, type DeploymentOutcome } from './deployments/deployment-html.js'
export { type DeploymentOptions, runDeployment } from './deployments/run-deployment.js'
export { runRealDeployment } from './deployments/real-deployment.js'
export { generateBootImage } from './downloads/boot-image-files.js'
export { downloadArtifacts, fileName } from './downloads/downloads.js'
export { buildMachineOs } from './downloads/build-machine-os.js'
export { openImages, type RegistrySettings } from './downloads/open-registry-images.js'
export { isStreamFile, openStream } from './downloads/stream-source.js'
export { ERRORS } from './errors.js'
export { knownStep, runStep, type StepRunEvent } from './steps/run-step.js'
export { loadManagers } from './steps/step-files.js'
export {
  REAL_CAPABILITIES,
  openRealTarget,
  planText,
  type RealTarget,
  type RealTargetRequest,
} from './targets/real-target.js'
export { sshAccess } from './targets/ssh-access.js'
