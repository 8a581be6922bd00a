import { UserError } from '../../base/runtime/index.js'

/** Number of the shard, from 1, that has the node of this number, from 1. */
export const shardOf = (node: number, size: number): number => Math.ceil(node / size)

/** The numbers of a shard's nodes. */
const nodesOf = (shard: number, size: number): { first: number; last: number } => ({
  first: (shard - 1) * size + 1,
  last: shard * size,
})

/** The error of requests whose shard does not work any more. */
export function shardFailed(number: number, size: number, cause: unknown): UserError {
  const { first, last } = nodesOf(number, size)
  const why = cause instanceof Error ? cause.message : String(cause)
  return new UserError('shard-failed', `shard ${number} (nodes ${first} to ${last}) has failed: ${why}`, { cause })
}
