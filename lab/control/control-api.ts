import { decodeEscapes } from '../../base/bytes/index.js'
import { BmcError, type Guard } from '../../ironic-mock/index.js'
import {
  checkNesting,
  errorChain,
  UserError,
  userError,
  type ErrorCode,
  type Logger,
} from '../../base/runtime/index.js'
import { IronicRefused, type Dispatch, type WireRequest, type WireResponse } from '../../base/wire/index.js'
import {
  routeOf,
  checkRequest,
  isAnswer,
  type ControlHandler,
  type ControlOperation,
  CONTROL_OPERATIONS,
  type ControlOperationId,
} from '../../control/index.js'

/** Prefix of the control API's paths. No path of Ironic begins with it. */
const LAB = '/_lab'

const DESCRIBED = { remedy: `${LAB}/openapi describes every call` }

export interface ControlApiOptions {
  /** Answers all other paths. */
  api: Dispatch
  handlers: Readonly<Record<ControlOperationId, ControlHandler>>
  /** Authentication, the same as of {@link api}. */
  guard?: Guard
  logger: Logger
}

const ERROR_STATUS: Partial<Record<ErrorCode, number>> = {
  'bad-request': 400,
  fault: 400,
  'no-such-path': 404,
  'no-such-node': 404,
  'no-such-machine': 404,
  'no-such-fault': 404,
  'no-such-disk': 404,
  'no-such-nic': 404,
  'no-such-fork': 404,
  'snapshot-unknown': 404,
  'snapshot-file': 400,
  'snapshot-options': 400,
  'not-in-a-fleet': 404,
  'no-run': 404,
  'no-recordings': 404,
  'no-such-file': 404,
  'no-live-image': 404,
  'database-unreachable': 503,
  'method-not-allowed': 405,
}

/** True for the control API's paths, with or without a query. */
export function isControlPath(target: string): boolean {
  const path = pathOf(target)
  return path === LAB || path.startsWith(`${LAB}/`)
}

const pathOf = (target: string): string => target.replace(/\?.*$/s, '').replace(/\/+$/, '')

/** Ironic's API, with the control API beside it. */
export function controlApi({ api, handlers, guard, logger }: ControlApiOptions): Dispatch {
  return async (request) => {
    if (!isControlPath(request.target)) return api(request)
    const path = pathOf(request.target)
    const refused = await guard?.(request)
    if (refused) return refused
    try {
      const { operation, params } = operationOf(request.method, path.slice(LAB.length))
      const query = readQuery(request, operation)
      const body = readBody(request, operation)
      const value = await handlers[operation.id as ControlOperationId]({ params, query, body, request })
      if (isAnswer(value)) return value
      return value === undefined ? { status: 204, headers: {} } : controlAnswer(operation.status, value)
    } catch (error) {
      return answerControlError(error, request, logger)
    }
  }
}

function operationOf(method: string, path: string): { operation: ControlOperation; params: Record<string, string> } {
  const { parts } = routeOf(path)
  const here = CONTROL_OPERATIONS.filter((operation) => {
    const route = routeOf(operation.path).parts
    return route.length === parts.length && route.every((part, index) => part.startsWith('{') || part === parts[index])
  })
  const operation = here.find((each) => each.method === (method === 'HEAD' ? 'GET' : method))
  if (operation) {
    const params: Record<string, string> = {}
    for (const [index, part] of routeOf(operation.path).parts.entries())
      if (part.startsWith('{')) params[part.slice(1, -1)] = decodeEscapes(parts[index]!)
    return { operation, params }
  }
  if (here.length > 0)
    throw new UserError('method-not-allowed', `${method} ${LAB}${path} is not possible`, {
      remedy: `use ${here.map((each) => each.method).join(' or ')}`,
    })
  throw new UserError('no-such-path', `there is no ${LAB}${path}`, { remedy: `GET ${LAB} lists what there is` })
}

const querySchemas = new Map(
  CONTROL_OPERATIONS.map((operation: ControlOperation) => [
    operation,
    { type: 'object', additionalProperties: false, properties: operation.query ?? {} },
  ]),
)

function readQuery(request: WireRequest, operation: ControlOperation): Record<string, string> {
  const search = new URLSearchParams(request.target.split(/\?(.*)/s)[1] ?? '')
  const values = Object.fromEntries(search)
  checkRequest(querySchemas.get(operation)!, values, 'the query', DESCRIBED)
  return values
}

function readBody({ body }: WireRequest, operation: ControlOperation): unknown {
  if (!operation.body) return {}
  let document: unknown = {}
  if (body !== undefined)
    try {
      document = JSON.parse(body)
    } catch (cause) {
      throw new UserError('bad-request', `the body is not JSON: ${errorChain(cause).join(': ')}`, {
        remedy: `${LAB}/openapi has an example of each body`,
      })
    }
  checkNesting(document, 'the body')
  if (operation.listAnswer && Array.isArray(document))
    for (const [index, each] of document.entries())
      checkRequest(operation.body, each, `the body, number ${index + 1} of ${document.length},`, DESCRIBED)
  else checkRequest(operation.body, document, 'the body', DESCRIBED)
  return document
}

function answerControlError(error: unknown, { method, target }: WireRequest, logger: Logger): WireResponse {
  const known = userError(error)
  if (known)
    return controlRefusal(
      ERROR_STATUS[known.code] ?? (known.kind === 'usage' ? 400 : 409),
      known.code,
      errorChain(known).join(': '),
      known.remedy ?? null,
    )
  if (error instanceof IronicRefused)
    return controlRefusal(409, 'ironic-refused', error.message, 'do what Ironic asks for first')
  if (error instanceof BmcError) return controlRefusal(409, 'bmc-refused', error.message, 'lift the faults of this BMC')
  logger('error', `${method} ${target} failed`, { error })
  return controlRefusal(500, 'defect', errorChain(error).join(': '), 'this is a defect of ironstage: please report it')
}

/** A refusal in the shape of the control API. */
export const controlRefusal = (status: number, code: string, message: string, remedy: string | null): WireResponse =>
  controlAnswer(status, { error: { code, message, remedy } })

const controlAnswer = (status: number, body: unknown): WireResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
