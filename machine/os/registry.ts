/** A container image as its registry describes it. */
export interface PulledImage {
  /** The manifest's bytes: the image's digest is their SHA-256. */
  manifest: Uint8Array
}

/** What a node image's manifest says, in an annotation as ostree images have them. */
export interface NodeImageManifest {
  /** Of the OS in it. */
  version: string
  /** Of the base that it derives from. */
  base: string
  /** Digests, the base's first. */
  layers: { digest: string; size: number }[]
  /** What it adds to the base: paths below /usr. */
  files: string[]
}

/** No image: why is told in the sentence. */
export class PullFailure extends Error {
  override name = 'PullFailure'
}

/** Where machines pull container images from. */
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
