import { isNestedDeeper } from '../../runtime/index.js'
import { ironicErrors, IronicError, type BodyLimits, type Operation } from '../../wire/index.js'

import type { ServiceSettings } from '../config/service-options.js'

const KIB = 1024

type Limits = Pick<ServiceSettings, 'maxBodySize' | 'maxProvisionBodySize' | 'maxInspectionBodySize' | 'maxBodyDepth'>

/** Two calls carry more than others: a configdrive, an inventory with its logs. */
function largestOf({ id }: Pick<Operation, 'id'>, limits: Limits): number {
  if (id === 'nodes.provision') return limits.maxProvisionBodySize
  return id === 'continueInspection' ? limits.maxInspectionBodySize : limits.maxBodySize
}

const tooLarge = (largest: number): string =>
  `The request body is larger than ${largest} KiB, the most that this call takes.`

/**
 * The limits of {@link readBody} by path, for the server to apply while a body arrives: callers that send more than a call
 * takes, many at once, must not fill the memory. Paths that are not Ironic's have the largest.
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
 * The JSON of a request's body; undefined when there is none. The limit of its depth also keeps whoever walks it from
 * running out of stack.
 *
 * @throws IronicError 400 for what is no JSON (upstream: 500) or nested too deeply, 413 for what is too large
 */
export function readBody(operation: Operation, text: string | undefined, limits: Limits): unknown {
  if (text === undefined || text.trim() === '') return undefined
  const largest = largestOf(operation, limits)
  if (Buffer.byteLength(text) > largest * KIB) throw new IronicError(413, tooLarge(largest))
  // What nobody reads may be anything.
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
