import { sha256Hex } from '../../../base/bytes/index.js'
import type { KubeKind, KubeKinds, NewObject } from '../../../base/kubernetes/index.js'

/** An object as a release brings it. */
export type ManifestObject = { [K in KubeKind]: NewObject<KubeKinds[K]> & { kind: K } }[KubeKind]

export interface ReleaseManifest {
  /** `0000_31_cluster-baremetal-operator_01_images.configmap.yaml`: run level, component, and place among its files. */
  name: string
  object: ManifestObject
}

/** Contents of a release image, as far as the operators use them. */
export interface ReleasePayload {
  version: string
  manifests: readonly ReleaseManifest[]
  /** Tags of image-references with the images of operating systems; other tags are left out. */
  imageReferences?: readonly { tag: string; image: string }[]
  /** bootimage.json of machine-os-content: coreos-assembler's meta.json of the build. */
  bootimage?: string
}

/** A container image, as far as the pods of a site use it. */
export interface PodImage {
  /** Only in a release image. */
  payload?: ReleasePayload
  /** Only in machine-os-images: the folder on this host with its ISOs, their digests and the stream metadata. */
  folder?: string
  /** Labels of the image. */
  labels?: Readonly<Record<string, string>>
  /** Release that it was made for; an image that several releases have is of the last. */
  release?: string
  /** Time that its pull takes; default: that of any image. */
  pullTime?: number
}

/** Pulls container images: of a site's own registry, or another that speaks the protocol. */
export interface ContainerPuller {
  /** @throws PullFailure with a container runtime's sentence */
  pull(image: string, signal: AbortSignal): Promise<PodImage>
}

/** Digest of a release image: the payload's own, so that another payload cannot go by its name. */
export const payloadDigest = (payload: ReleasePayload): string => `sha256:${sha256Hex(JSON.stringify(payload))}`
