/** Ignition configs: reading, summarising, the edits that a deployment makes to them. */
export { looksLikeCloudConfig } from './cloud-config.js'
export type { IgnitionConfig, IgnitionFile, IgnitionUnit, IgnitionUser, Resource } from './config.js'
export { dataUrl, dataUrlBytes } from './data-url.js'
export { findingLine, type Finding } from './findings.js'
export { hostnameIn, withHostname } from './hostname.js'
export { parseIgnition } from './parse.js'
export { sshKeyFingerprint } from './ssh-key.js'
export { MASKED_IGNITION, summarizeIgnition, type IgnitionSummary } from './summary.js'
export type { SpecConfig } from './spec/config-types.js'
export { ignitionSchema } from './spec/json-schema.js'
export { NEWEST_STABLE, SPEC_VERSIONS, isExperimental, isSpecVersion, type SpecVersion } from './spec/versions.js'
export { validateIgnition, type IgnitionReport } from './validate.js'
export { bytesSource, followedBy, overlay, streamOf, type ByteSource, type Patch } from './iso/byte-source.js'
export { openFileSource, type FileSource } from './iso/file-source.js'
export { editLiveKargs, type LiveKargsEdit } from './iso/kargs-edit.js'
export type { KargsAreas } from './iso/kargs-areas.js'
export { openLiveIso, type LiveIso } from './iso/live-iso.js'
export { minimalIso } from './iso/minimal-iso.js'
export { pxeFiles } from './iso/pxe-files.js'
export {
  IGNITION_FILE,
  keyfileFiles,
  keyfilesAt,
  keyfilesIn,
  keyfilesText,
  withoutKeyfiles,
  type Keyfile,
} from './pxe/contents.js'
export { customize, type Customization, type Customized, type NamedFile } from './pxe/customize.js'
export { customizePxe } from './pxe/customize-pxe.js'
export { doing, failureText, isSystemError, LiveImageError } from './pxe/failure.js'
export { requireNetwork, type OsFeatures } from './pxe/features.js'
export { readInitramfs, wrapFiles, type Files, type Limits } from './pxe/initramfs.js'
export { ipxeScript, liveKernelArguments, type IpxeBoot, type LiveSources } from './pxe/kernel-arguments.js'
