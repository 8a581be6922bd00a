import type { HttpThrough } from '../base/bytes/index.js'

/** An image that a step wants the programs of its target to read. */
export interface ImageAsset {
  /** http or https; secrets in it are masked in logs and reports. */
  url: string
  /** Checksum from stream metadata or instance_info, hex; null when neither has one. */
  sha256: string | null
  /**
   * Detached OpenPGP signature: checked whenever there is one; `required` refuses an image without. Its address is
   * {@link signatureUrl}, or else the image's path with `.sig` appended, as coreos-installer does.
   */
  signature: 'required' | 'where present'
  signatureUrl?: string
  /** `disk` (default) has a smallest size. */
  of?: 'disk' | 'anything'
}

/** An asset that the target's programs can read, already checked; it stays there until this is disposed of. */
export interface StagedAsset extends AsyncDisposable {
  /** Becomes `--image-file` or `--image-url` of coreos-installer. */
  readonly from: { kind: 'file'; path: string } | { kind: 'url'; url: string }
  /** Error that cut its transfer to the target off; undefined without one. A new read resets it. */
  failure(): unknown
  /** Details for logs. */
  readonly about: Readonly<Record<string, unknown>>
}

/** Options of {@link StageAsset}. */
export interface StageAssetOptions {
  signal: AbortSignal
  /** Bytes received so far; `total` is null while the size is unknown. */
  onProgress?: (received: number, total: number | null) => void
  /** Sees the requests for the asset. */
  through?: HttpThrough
}

/**
 * Makes an asset readable for a target's programs. Resolves to null where they can as well fetch it themselves; rejects
 * with a {@link UserError} when the asset cannot be had.
 */
export type StageAsset = (asset: ImageAsset, options: StageAssetOptions) => Promise<StagedAsset | null>
