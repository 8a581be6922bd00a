/** Ignition configs: reading, summarising, the edits that a deployment makes to them. */
export { looksLikeCloudConfig } from './cloud-config.js'
export {
  SPEC_VERSIONS,
  type IgnitionConfig,
  type IgnitionFile,
  type IgnitionUnit,
  type IgnitionUser,
  type Resource,
} from './config.js'
export { dataUrl, dataUrlBytes } from './data-url.js'
export { hostnameIn, withHostname } from './hostname.js'
export { parseIgnition } from './parse.js'
export { sshKeyFingerprint } from './ssh-key.js'
export { MASKED_IGNITION, summarizeIgnition, type IgnitionSummary } from './summary.js'
