/** Ignition configs: reading, summarising, the edits that a deployment makes to them. */
export { IGNITION_TYPE } from './accept.js'
export { butaneVariant } from './butane.js'
export type { IgnitionConfig, IgnitionFile, IgnitionUnit, IgnitionUser, IgnitionResource } from './config.js'
export { dataUrl, dataUrlBytes } from './data-url.js'
export { ERRORS } from './errors.js'
export { type IgnitionFinding, findingLine } from './findings.js'
export { type OwnHostname, withHostname, writesHostname } from './hostname.js'
export type { TextPosition } from './json/place.js'
export { mergeIgnition } from './merge.js'
export { negotiate } from './negotiate.js'
export { parseIgnition } from './parse.js'
export { maskConfigLine, type ReadConfig, readIgnition, refusalText } from './read-spec.js'
export { mergeAll, type RenderedConfig, renderIgnition, type RenderOptions } from './render-config.js'
export { type FetchResource, hashMismatch, MAX_RESOURCE_BYTES, resourceBytes } from './resource-bytes.js'
export type {
  SpecClevis,
  SpecConfig,
  SpecCustomClevis,
  SpecDirectory,
  SpecDisk,
  SpecDropin,
  SpecFile,
  SpecFilesystem,
  SpecGroup,
  SpecHeader,
  SpecLink,
  SpecLuks,
  SpecNode,
  SpecOwner,
  SpecPartition,
  SpecRaid,
  SpecResource,
  SpecStorage,
  SpecTang,
  SpecUnit,
  SpecUser,
} from './spec/config-types.js'
export { ignitionSchema } from './spec/json-schema.js'
export { atLeast, isExperimental, NEWEST_STABLE, SPEC_VERSIONS, type SpecVersion } from './spec/spec-versions.js'
export { sshKeyFingerprint } from './ssh-key.js'
export { type IgnitionSummary, MASKED_IGNITION, summarizeIgnition } from './summary.js'
export { translateIgnition, type TranslateOptions } from './translate.js'
export { type IgnitionReport, validateIgnition } from './validate-config.js'
