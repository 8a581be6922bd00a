import type { ByteStream } from '../../bytes/index.js'
import type { Descriptor } from './manifest.js'

export interface StoredManifest {
  bytes: Buffer
  /** Undefined where only the manifest itself has it. */
  mediaType: string | undefined
  digest: string
}

/** Where manifests and blobs are: a repository of a registry, or a folder. */
export interface ImageStore {
  /** For messages: `quay.io/openshift/release`, `oci:release`. */
  readonly name: string
  /**
   * @param reference a tag, or a digest, which is verified
   * @throws UserError `image-not-found`, `image-altered`, and as a registry fails
   */
  manifest(reference: string, signal: AbortSignal): Promise<StoredManifest>
  /** A stream that fails with `image-altered` when it is not what the descriptor says. */
  blob(descriptor: Descriptor, signal: AbortSignal): Promise<ByteStream>
}

/** Where images can be put. Content comes before what refers to it. */
export interface ImageSink {
  /** For messages. */
  readonly name: string
  /** Puts a blob, unless it is there. */
  putBlob(bytes: Uint8Array, digest: string, signal: AbortSignal): Promise<void>
  /** Puts a manifest by its digest, and by the tag if there is one: the tag always leads to a whole image, the new one or the one of before. */
  putManifest(
    manifest: { bytes: Uint8Array; mediaType: string; digest: string },
    tag: string | undefined,
    signal: AbortSignal,
  ): Promise<void>
}
