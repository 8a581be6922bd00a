/** A container image as its registry describes it. */
interface PulledImage {
  /** The manifest's bytes: the image's digest is their SHA-256. */
  manifest: Uint8Array
}

/** Contents of an annotation in a node image's manifest, modelled on those of ostree images. */
export interface NodeImageManifest {
  /** Version of the OS in it. */
  version: string
  /** Version of the base that it derives from. */
  base: string
  /** Layers, the base's first. */
  layers: { digest: string; size: number }[]
  /** Paths below /usr that it adds to the base. */
  files: string[]
  /** True if disk images of the same version have all of it: a machine that was installed from one needs no update. */
  inDiskImages?: boolean
}

/** A failed pull, with the reason as message. */
export class PullFailure extends Error {
  override name = 'PullFailure'
}

/** Registry that machines pull container images from. */
export interface ImageRegistry {
  /** @throws PullFailure */
  manifest(image: string, signal: AbortSignal): Promise<PulledImage>
  /** Fetches one layer. @throws PullFailure */
  layer(image: string, digest: string, signal: AbortSignal): Promise<void>
}

export const NO_REGISTRY: ImageRegistry = {
  manifest: (image) => Promise.reject(new PullFailure(`${image}: dial tcp: lookup registry: no such host`)),
  layer: (image) => Promise.reject(new PullFailure(`${image}: dial tcp: lookup registry: no such host`)),
}
