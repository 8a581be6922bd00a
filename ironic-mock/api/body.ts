import { ironicErrors, IronicError, type Operation } from '../../wire/index.js'

const KIB = 1024
/** `[api]max_json_body_size`, and the two calls that carry more: a configdrive, an inventory with its logs. */
const LARGEST = 1024 * KIB
const LARGEST_OF: Readonly<Record<string, number>> = {
  'nodes.provision': 64 * 1024 * KIB,
  continueInspection: 16 * 1024 * KIB,
}
/** `[api]max_json_body_depth`; it also keeps whoever walks a body from running out of stack. */
const DEEPEST = 25

/**
 * The JSON of a request's body; undefined when there is none.
 *
 * @throws IronicError 400 for what is no JSON (upstream: 500) or nested too deeply, 413 for what is too large
 */
export function readBody(operation: Operation, text: string | undefined): unknown {
  if (text === undefined || text.trim() === '') return undefined
  const largest = LARGEST_OF[operation.id] ?? LARGEST
  if (Buffer.byteLength(text) > largest)
    throw new IronicError(413, `The request body is larger than ${largest / KIB} KiB, the most that this call takes.`)
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    throw ironicErrors.bodyNotJson(error instanceof Error ? error.message : String(error))
  }
  if (isDeeper(body, DEEPEST))
    throw new IronicError(400, `The request body is nested more than ${DEEPEST} levels deep.`)
  return body
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1))
}
