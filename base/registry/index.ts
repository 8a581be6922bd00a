/** Container images in registries and folders: the OCI distribution API, image manifests and layers, mirrors and credentials. */
export { authFiles, type AuthFiles } from './access/registry-credentials.js'
export { blobDigestOf, isDigest } from './digest.js'
export { ERRORS } from './errors.js'
export { type MadeImage, makeImage, putImage } from './images/make-image.js'
export { type Image, type ImageAccess, Images, type OpenedImage } from './images/open-images.js'
export type { MirrorRule } from './mirrors/mirrors.js'
export { readMirrors } from './mirrors/read-mirrors.js'
export { type ImagePlace, isImagePlace, parsePlace, parseReference, referenceText } from './places/reference.js'
