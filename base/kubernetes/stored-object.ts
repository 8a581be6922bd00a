import type { JsonMembers } from './kube-json.js'
import type { StoredMeta } from './object.js'

/** An object of the store: deeply frozen, so that readers and the history may share it. */
export type Stored = JsonMembers & {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Readonly<StoredMeta>
}

export const resourceVersionOf = ({ metadata }: Stored): number => Number(metadata.resourceVersion)
