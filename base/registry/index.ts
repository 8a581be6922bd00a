/** Container images in registries and folders: the OCI distribution API, image manifests and layers, mirrors and credentials. */
export { parseChallenges } from './access/challenge.js'
export { authFiles, type AuthFiles } from './access/registry-credentials.js'
export { blobDigestOf, isDigest } from './digest.js'
export { ERRORS } from './errors.js'
export { goArchitecture, imageFor } from './images/image-platforms.js'
export { type ImageNode, ImageTree } from './images/image-tree.js'
export { layerArchive } from './images/layer.js'
export { type MadeImage, makeImage, putImage } from './images/make-image.js'
export { type Image, type ImageAccess, Images, type OpenedImage } from './images/open-images.js'
export { ACCEPTED, type Descriptor, type ImageManifest, readManifest } from './images/manifest.js'
export { internalRegistry, isInternalRegistry, NODE_REGISTRY } from './mirrors/internal-registry.js'
export { MIRROR_KINDS, type MirrorKind } from './mirrors/mirror-kinds.js'
export { mirrorCandidates, type MirrorRule } from './mirrors/mirrors.js'
export type { MirrorArchive } from './mirrors/mirror-archive.js'
export { mergeMirrorRules, type RegistriesConf, readMirrors, readRegistriesConf } from './mirrors/read-mirrors.js'
export {
  type ImagePlace,
  type ImageReference,
  isImagePlace,
  parsePlace,
  parseReference,
  referenceText,
} from './places/reference.js'
