/** Ignition configs: reading, summarising, the edits that a deployment makes to them. */
export { IGNITION_TYPE } from './accept.js'
export { butaneVariant } from './butane.js'
export type { IgnitionConfig } from './config.js'
export { dataUrl, dataUrlBytes } from './data-url.js'
export { ERRORS } from './errors.js'
export { type Finding, findingLine } from './findings.js'
export { withHostname } from './hostname.js'
export { mergeIgnition } from './merge.js'
export { negotiate } from './negotiate.js'
export { parseIgnition } from './parse.js'
export { discreet, readIgnition, refusalText } from './read-spec.js'
export { mergeAll, renderIgnition } from './render.js'
export { type Fetch, LARGEST_RESOURCE, resourceBytes } from './resource-bytes.js'
export type {
  SpecConfig,
  SpecDirectory,
  SpecDisk,
  SpecFile,
  SpecFilesystem,
  SpecLink,
  SpecLuks,
  SpecNode,
  SpecPartition,
  SpecRaid,
  SpecResource,
  SpecUnit,
  SpecUser,
} from './spec/config-types.js'
export { ignitionSchema } from './spec/json-schema.js'
export { isExperimental, NEWEST_STABLE, SPEC_VERSIONS, type SpecVersion } from './spec/versions.js'
export { sshKeyFingerprint } from './ssh-key.js'
export { MASKED_IGNITION, summarizeIgnition } from './summary.js'
export { translateIgnition } from './translate.js'
export { type IgnitionReport, validateIgnition } from './validate.js'
