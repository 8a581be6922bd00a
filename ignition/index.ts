/** Ignition configs: reading, summarising, the edits that a deployment makes to them. */
export { acceptedVersion, IGNITION_TYPE } from './accept.js'
export { looksLikeCloudConfig } from './cloud-config.js'
export type { IgnitionConfig, IgnitionFile, IgnitionUnit, IgnitionUser, Resource } from './config.js'
export { dataUrl, dataUrlBytes } from './data-url.js'
export { findingLine, type Finding } from './findings.js'
export { withHostname } from './hostname.js'
export { mergeIgnition } from './merge.js'
export { negotiate, type Negotiated } from './negotiate.js'
export { parseIgnition } from './parse.js'
export { discreet, readIgnition, refusalText, type ReadConfig } from './read-spec.js'
export { mergeAll, renderIgnition, type Rendered, type Rendering } from './render.js'
export { LARGEST_RESOURCE, resourceBytes, type Fetch } from './resource-bytes.js'
export { sshKeyFingerprint } from './ssh-key.js'
export { MASKED_IGNITION, summarizeIgnition, type IgnitionSummary } from './summary.js'
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
export { butaneVariant } from './butane.js'
export { NEWEST_STABLE, SPEC_VERSIONS, isExperimental, type SpecVersion } from './spec/versions.js'
export { translateIgnition, type TranslateOptions } from './translate.js'
export { validateIgnition, type IgnitionReport } from './validate.js'
export { bytesSource, overlay, streamOf, type ByteSource, type Patch } from './iso/byte-source.js'
export { openFileSource, type FileSource } from './iso/file-source.js'
export { editLiveKargs, type LiveKargsEdit } from './iso/kargs-edit.js'
export type { KargsAreas } from './iso/kargs-areas.js'
export { readIso9660 } from './iso/iso9660.js'
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
export { checkConsole, normalConsole, parseConsole, type ConsoleSpec } from './pxe/console.js'
export { consoleNote, type ConsoleOptions } from './pxe/console-note.js'
export { customize, type Customization, type Customized, type NamedFile } from './pxe/customize.js'
export { customizePxe } from './pxe/customize-pxe.js'
export { doing, failureBlock, failureText, isSystemError, LiveImageError, systemSentence } from './pxe/failure.js'
export { XZ_MEMORY_LIMIT, XZ_TRUNCATED, xzSentence } from './pxe/xz.js'
export {
  LARGEST_ZSTD_WINDOW,
  LONGEST_ZSTD_HEADER,
  ZSTD_TOO_MUCH_MEMORY,
  zstdFrame,
  type ZstdFrame,
} from './pxe/zstd-frame.js'
export { requireNetwork, type OsFeatures } from './pxe/features.js'
export { readInitramfs, wrapFiles, type Files, type Limits } from './pxe/initramfs.js'
export { kernelWords, liveKernelArguments, type LiveSources } from './pxe/kernel-arguments.js'
export { agentOf, type AgentOnCoreos, type ContainerPull, type RestartRule } from './agent/agent-of.js'
export { agentConfig } from './agent/agent-config.js'
export {
  DEFAULT_AGENT_IMAGE,
  type AgentConfigOptions,
  type AgentTemplate,
  type AgentTls,
} from './agent/agent-options.js'
export { liveIpxeScript, pxeAppendParams, type LivePxe } from './agent/pxe.js'
export { withoutPassword as shownAddress } from './agent/service-urls.js'
export { writtenFiles, type FileAt } from './agent/written-files.js'
export type { Artifact, FileName, ImageFormat } from './metadata/artifact.js'
export { BUILD_META, osImages, type BuildMeta, type OsImages } from './metadata/build-meta.js'
export { documentText, parseJson, type DocumentKind } from './metadata/document.js'
export { FEDORA_BUILDS, metaToRelease, type ReleaseOptions } from './metadata/meta-to-release.js'
export { RELEASE, RELEASE_INDEX, withRelease, type Release, type ReleaseIndex } from './metadata/release.js'
export { releaseToStream, updateStream, type StreamOptions } from './metadata/release-to-stream.js'
export { STREAM, type Stream, type StreamArchitecture } from './metadata/stream.js'
export {
  ami,
  architectureOf,
  cloudImage,
  disk as streamDisk,
  imageFormat,
  liveFiles,
  releaseOf,
  type LiveFiles,
  type RegionalCloud,
} from './metadata/stream-lookup.js'
export { BOOT_IMAGE_PLATFORMS, bootImageFor, type BootImage, type BootImagePlatform } from './metadata/boot-image.js'
export {
  bootImageInfo,
  readReleaseImage,
  RHEL_BUILDS,
  streamOfBuilds,
  writeReleaseImage,
  type BootImageInfo,
  type ReleaseImage,
} from './metadata/release-image.js'
export { compareVersions, parseVersion, refuseDowngrade, type CoreosVersion } from './metadata/versions.js'
export { bootImagesText, readBootImages, streamNamed, type BootImages } from './metadata/config-map.js'
export { mirroredUrl, relocated } from './metadata/mirror.js'
export { readMetadata, schemaProblems, type Metadata } from './metadata/read-metadata.js'
export { checkStream, type StreamFinding } from './metadata/stream-check.js'
export { diffStreams, type StreamDifference } from './metadata/stream-diff.js'
export { serveStreams, type StreamServer, type StreamServerOptions } from './metadata/stream-server.js'
export {
  pinnedStream,
  publishStream,
  refuseBackInTime,
  refuseOlderStream,
  type Pinned,
  type Shelf,
} from './metadata/stream-shelf.js'
export { openImageService, type ImageService, type ImageServiceOptions, type LiveUrls } from './serve/image-service.js'
export { findLiveImages, type LiveImageFiles } from './serve/live-files.js'
export { buildContradictions, CONTAINER, type ContainerInspection } from './metadata/machine-os/build-match.js'
export { copyIso, type CopyOptions } from './metadata/machine-os/copy-iso.js'
export { copyMetal, type CopyMetalOptions } from './metadata/machine-os/copy-metal.js'
export { copyPxe } from './metadata/machine-os/copy-pxe.js'
export {
  OS_VERSIONS,
  prefixOf,
  shippedStream,
  storedIsos,
  streamFile,
  type OsVersion,
} from './metadata/machine-os/image-content.js'
export { verifyMachineOs, type Verdict } from './metadata/machine-os/verify.js'
