import type { JsonMembers } from './json.js'
import type { Kind } from './kinds.js'
import type { ObjectMeta } from './object.js'

/** An object of the store: deeply frozen, so that readers and the history may share it. */
export type Stored = JsonMembers & {
  readonly apiVersion: string
  readonly kind: Kind
  readonly metadata: Readonly<ObjectMeta>
}

export const versionOf = ({ metadata }: Stored): number => Number(metadata.resourceVersion)
