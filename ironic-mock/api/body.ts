import { isNestedDeeper } from '../../runtime/index.js'
import { ironicErrors, IronicError, type BodyLimits, type Operation } from '../../wire/index.js'

import type { ServiceSettings } from '../config/service-options.js'

const KIB = 1024

type Limits = Pick<ServiceSettings, 'maxBodySize' | 'maxProvisionBodySize' | 'maxInspectionBodySize' | 'maxBodyDepth'>

/** Largest body of a call, in KiB. Two calls carry more than others: a config drive, an inventory with its logs. */
function largestOf({ id }: Pick<Operation, 'id'>, limits: Limits): number {
  if (id === 'nodes.provision') return limits.maxProvisionBodySize
  return id === 'continueInspection' ? limits.maxInspectionBodySize : limits.maxBodySize
}

const tooLarge = (largest: number): string =>
  `The request body is larger than ${largest} KiB, the most that this call takes.`

/**
 * Limits of {@link readBody} by path. The server applies them while a body arrives, so that many oversized requests at
 * once cannot fill the memory. Paths outside Ironic's API have the largest limit.
 */
export const bodyLimitsOf =
  (limits: Limits): BodyLimits =>
  (target) => {
    const [, path = ''] = /^(?:\/+v1(?=\/))?\/+([^?]*)/.exec(decoded(target)) ?? []
    const provision = /^nodes\/.*\/states\/+provision(\.json)?\/*$/.test(path) || path.startsWith('_lab/')
    const inspection = path.startsWith('continue_inspection')
    const largest = largestOf({ id: provision ? 'nodes.provision' : inspection ? 'continueInspection' : '' }, limits)
    return { largest: largest * KIB, refusal: tooLarge(largest) }
  }

function decoded(target: string): string {
  try {
    return decodeURIComponent(target)
  } catch {
    return target
  }
}

/**
 * Parses a request's body as JSON; undefined when there is none. The limit of its depth also keeps recursive readers
 * from running out of stack.
 *
 * @throws IronicError 400 for invalid JSON (upstream: 500) or too deep nesting, 413 for too large a body
 */
export function readBody(operation: Operation, text: string | undefined, limits: Limits): unknown {
  if (text === undefined || text.trim() === '') return undefined
  const largest = largestOf(operation, limits)
  if (Buffer.byteLength(text) > largest * KIB) throw new IronicError(413, tooLarge(largest))
  // The operation ignores its body, so any text is accepted.
  if (!operation.body) return undefined
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    throw ironicErrors.bodyNotJson(error instanceof Error ? error.message : String(error))
  }
  const { maxBodyDepth: deepest } = limits
  if (isNestedDeeper(body, deepest))
    throw new IronicError(400, `The request body is nested more than ${deepest} levels deep.`)
  return body
}
