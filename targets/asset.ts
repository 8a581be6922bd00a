/** An image that a step wants the programs of its target to read. */
export interface Asset {
  /** http or https; may hold secrets, which are masked wherever it is told. */
  url: string
  /** What its bytes must be, as stream metadata or instance_info say: hex. Null where nobody said. */
  sha256: string | null
  /**
   * Of a detached OpenPGP signature: one that is there is always checked, `required` refuses an image without. It is
   * looked for at {@link signatureUrl}, or else beside the image, with `.sig` behind its path as coreos-installer has it.
   */
  signature: 'required' | 'where present'
  signatureUrl?: string
  /** What it is: an image of a disk unless told otherwise, which has a smallest size. */
  of?: 'disk' | 'anything'
}

/** An asset within reach of the target's programs, checked; it stays there until this is disposed of. */
export interface StagedAsset extends AsyncDisposable {
  /** How coreos-installer is told of it: `--image-file` or `--image-url`. */
  readonly from: { kind: 'file'; path: string } | { kind: 'url'; url: string }
  /** Why it was cut off on its way to the target; undefined as long as it was not. A later reading starts anew. */
  failure(): unknown
  /** What is known of it, for logs. */
  readonly about: Readonly<Record<string, unknown>>
}

/** Options of {@link StageAsset}. */
export interface StageOptions {
  signal: AbortSignal
  /** How much has been brought, in bytes; `total` is null while nobody said. */
  onProgress?: (received: number, total: number | null) => void
}

/**
 * Brings assets within reach of a target's programs. Gives null where they may as well fetch it by themselves; rejects with
 * a {@link UserError} that says why it cannot.
 */
export type StageAsset = (asset: Asset, options: StageOptions) => Promise<StagedAsset | null>
