/** CoreOS as it is published and started: live images, metadata of streams and builds, machine-os, the agent on it. */
export { agentConfig } from './agent/agent-config.js'
export { agentOf, type AgentOnCoreos } from './agent/agent-in-config.js'
export type { AgentConfigOptions, AgentTemplate, AgentTls } from './agent/coreos-agent-options.js'
export { liveIpxeScript, type LivePxe, pxeAppendParams } from './agent/agent-pxe.js'
export { writtenFiles } from './agent/written-files.js'
export { ERRORS } from './errors.js'
export { type ImageService, type LiveUrls, openImageService } from './image-service/image-service.js'
export { findLiveImages, type LiveImageFiles } from './image-service/live-files.js'
export { failureBlock, failureText, isSystemError, systemSentence } from './installer-failure.js'
export { LiveImageError } from './live-image-error.js'
export { consoleNote } from './live/console-note.js'
export { checkConsole, type ConsoleSpec, normalConsole, parseConsole } from './live/console.js'
export {
  IGNITION_FILE,
  type Keyfile,
  keyfileFiles,
  keyfilesAt,
  keyfilesIn,
  keyfilesText,
  withoutKeyfiles,
} from './live/contents.js'
export { customizePxe } from './live/customize-pxe.js'
export { type Customization, customize, type NamedFile } from './live/customize.js'
export { requireNetwork } from './live/features.js'
export { type InitramfsFiles, readInitramfs, wrapFiles } from './live/initramfs.js'
export { editLiveKargs } from './live/kargs-edit.js'
export { kernelWords, liveKernelArguments, type LiveSources } from './live/live-kernel-arguments.js'
export { type LiveIso, openLiveIso } from './live/live-iso.js'
export { minimalIso } from './live/minimal-iso.js'
export { pxeFiles } from './live/pxe-files.js'
export { buildContradictions, CONTAINER } from './machine-os/build-match.js'
export { copyIso } from './machine-os/copy-iso.js'
export { copyMetal } from './machine-os/copy-metal.js'
export { copyPxe } from './machine-os/copy-pxe.js'
export {
  OS_VERSIONS,
  type OsVersion,
  prefixOf,
  shippedStream,
  streamFile,
  streamNameOf,
} from './machine-os/image-content.js'
export { type LinkedIso, linkedIsos } from './machine-os/linked-images.js'
export { verifyMachineOs } from './machine-os/verify.js'
export { bootableContainer, buildTime } from './making/bootable-container.js'
export { COREOS_SYSTEMS, type CoreosName, systemOfVersion } from './making/coreos-name.js'
export { liveIso, smallLiveImage } from './making/make-live-image.js'
export {
  LIVE_ARCHITECTURES,
  type LiveArchitecture,
  liveIsoKargs,
  liveTree,
  type LiveTree,
  smallInitramfs,
} from './making/live-tree.js'
export { type ArchitectureFiles, type DigestedFile, smallStream } from './making/small-stream.js'
export type { StreamArtifact, ImageFileName, ImageFormat } from './metadata/artifact.js'
export { type BootImage, bootImageFor, type BootImagePlatform } from './metadata/boot-image.js'
export {
  BUILD_META,
  type BuildArtifact,
  type BuildContainer,
  type BuildMeta,
  type BuildObject,
} from './metadata/build-meta.js'
export { type BootImages, bootImagesText, streamNamed } from './metadata/config-map.js'
export { documentText } from './metadata/metadata-document.js'
export { FEDORA_BUILDS, metaToRelease, streamOfBuild, type ReleaseOptions } from './metadata/meta-to-release.js'
export { FEDORA_STREAMS, fetchStreamText, imageOfStream, metalImageOf } from './metadata/metal-image.js'
export { type MetadataDocument, readMetadata, schemaProblems } from './metadata/read-metadata.js'
export { releaseToStream, type StreamOptions, updateStream } from './metadata/release-to-stream.js'
export {
  type ContainerImage,
  type PlatformMedia,
  type CoreosRelease,
  RELEASE_INDEX,
  type ReleaseArchitecture,
  type ReleaseIndex,
  withRelease,
} from './metadata/release-metadata.js'
export { checkStream, type StreamFinding } from './metadata/stream-check.js'
export { diffStreams, type StreamDifference } from './metadata/stream-diff.js'
export {
  ami,
  cloudImage,
  findDiskArtifact as streamDisk,
  imageFormat,
  liveFiles,
  type LiveFiles,
  type RegionalCloud,
  releaseOf,
} from './metadata/stream-lookup.js'
export { serveStreams, type StreamServer } from './metadata/stream-server.js'
export { pinnedStream, publishStream, refuseBackInTime, refuseOlderStream } from './metadata/stream-folder.js'
export {
  type CloudImages,
  type RhcosExtensions,
  type PlatformArtifacts,
  type RegionImage,
  type RegionObject,
  type StreamMetadata,
  STREAM_KIND,
  type StreamArchitecture,
} from './metadata/stream-metadata.js'
export { compareVersions } from './metadata/coreos-versions.js'
export { type DownloadPolicy, mirroredLocation, refuseForbiddenUrls } from './download-policy.js'
export { pullspecsOf } from './releases/image-references.js'
export { makeRelease, type NamedManifest } from './releases/make-release.js'
export { openRelease, type OpenedRelease } from './releases/open-release.js'
export { operatorManifests } from './releases/operator-manifests.js'
export type { ReleaseFiles } from './releases/release-files.js'
export { releaseFolder } from './releases/release-folder.js'
export { bootImageInfo, type BootImageInfo, readReleaseImage, streamOfBuilds } from './releases/release-image.js'
export { putRelease } from './releases/write-release.js'
