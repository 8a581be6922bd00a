import { checkNesting, isObject } from '../../base/runtime/index.js'
import { STATUS_CODES } from 'node:http'
import { unescape } from 'node:querystring'
import {
  AGENT_OPERATIONS,
  AGENT_VERSION,
  agentErrors,
  AgentError,
  agentFault,
  agentFaults,
  type AgentOperation,
  type AgentOperationId,
  type CommandRequest,
  type CommandResult,
  type Dispatch,
  type WireRequest,
  type WireResponse,
} from '../../base/wire/index.js'
import { rootDocument, versionDocument } from './api-documents.js'
import type { CommandRecord } from '../agent-phases.js'

/** State and actions behind the API. */
export interface ApiBackend {
  /** Whether the API is served: IPA opens its port only after the lookup. */
  serving(): boolean
  token(): string | null
  /** Start of this process of the agent, in milliseconds since the epoch. */
  readonly startedAt: number
  commands(): readonly CommandRecord[]
  /** @throws AgentError for a rejected request, which the list does not show */
  post(request: CommandRequest): Promise<CommandRecord>
  /** Resolves when the command has ended. */
  ended(id: string): Promise<CommandRecord>
  /** Called when a caller with the token has read the outcome of every command. */
  resultsRead(): void
  /** Called for an impossible request. The sentence holds neither token nor parameters. */
  refused(sentence: string): void
}

interface AgentCall {
  readonly request: WireRequest
  readonly query: URLSearchParams
  readonly segment: string
}

const OPERATIONS = Object.entries(AGENT_OPERATIONS) as [AgentOperationId, AgentOperation][]

const NOT_SERVING =
  '503 Service Unavailable: the agent is not at work: it has not been looked up yet, or its work is over.'

/** The `server_name` of IPA's HTTP server, cheroot (since ironic-python-agent 11.0.0, api/app.py Application.start). */
const signed = (answer: WireResponse): WireResponse => ({
  ...answer,
  headers: { ...answer.headers, server: 'ironic-python-agent' },
})

/**
 * HTTP API of IPA (recording agent-api-direct). Rejections keep IPA's order: the URL, the trailing slash, the method,
 * the token, the body.
 */
export function agentDispatch(backend: ApiBackend): Dispatch {
  return async (request) => {
    if (!backend.serving()) return signed(fault(503, NOT_SERVING))
    const answer = signed(await routeAgentCall(request, backend))
    if (answer.status >= 400) backend.refused(describeRefusal(request, answer))
    return request.method === 'HEAD' ? { status: answer.status, headers: answer.headers } : answer
  }
}

function describeRefusal({ method, target }: WireRequest, { body = '' }: WireResponse): string {
  const why = /^\{/.test(body) ? (JSON.parse(body) as { faultstring: string }).faultstring : body
  return `${method} ${target.replace(/\?.*/s, '')} was refused: ${why}`
}

async function routeAgentCall(request: WireRequest, backend: ApiBackend): Promise<WireResponse> {
  const queryAt = request.target.indexOf('?')
  const pathname = queryAt < 0 ? request.target : request.target.slice(0, queryAt)
  const search = queryAt < 0 ? '' : request.target.slice(queryAt)
  const query = new URLSearchParams(search)
  const method = request.method === 'HEAD' ? 'GET' : request.method
  // IPA's server, which is no proxy, reads this as another host's URL; a callback URL with a trailing slash leads to
  // it.
  if (/^\/\/[^/]/.test(pathname)) return plainAnswer(400, 'Absolute URI not allowed if server is not a proxy.')
  const path = readPath(pathname)
  const merged = singleSlashes(path)
  const matches = OPERATIONS.flatMap(([id, operation]) => {
    const match = matchPath(operation.paths, merged)
    return match ? [{ id, operation, ...match }] : []
  })
  const found = matches.find(({ operation }) => operation.method === method)
  if (!found) {
    // Routes without the trailing slash count only for a redirect, not for the allowed methods.
    const exact = matches.filter(({ slashMissing }) => !slashMissing)
    return exact.length > 0 ? methodNotAllowed(exact) : fault(404, agentFaults.notFound)
  }
  if (found.slashMissing || (path !== merged && merged !== '/'))
    return redirect(`${request.base}${singleSlashes(pathname)}${found.slashMissing ? '/' : ''}${search}`)
  if (found.operation.token) {
    const token = backend.token()
    if (token === null || query.get('agent_token') !== token) return fault(401, agentFaults.invalidToken)
  }
  try {
    return await handle(found.id, { request, query, segment: found.segment }, backend)
  } catch (error) {
    if (error instanceof AgentError) return fault(error.code, error.message)
    throw error
  }
}

/** Finds the route of a path. A missing trailing slash is redirected; routes without one have no variant with it. */
function matchPath(paths: readonly string[], pathname: string): { segment: string; slashMissing: boolean } | undefined {
  for (const path of paths) {
    if (path.endsWith('{id}')) {
      const segment = pathname.startsWith(path.slice(0, -4)) ? pathname.slice(path.length - 4) : ''
      if (segment !== '' && !segment.includes('/')) return { segment, slashMissing: false }
    } else if (pathname === path) return { segment: '', slashMissing: false }
    else if (path.endsWith('/') && `${pathname}/` === path) return { segment: '', slashMissing: true }
  }
  return undefined
}

/** Decodes a path, but for escaped slashes. */
const readPath = (pathname: string): string =>
  pathname
    .split(/(%2f)/i)
    .map((part, index) => (index % 2 === 0 ? unescape(part) : part.toUpperCase()))
    .join('')

const singleSlashes = (path: string): string => path.replace(/\/{2,}/g, '/')

async function handle(id: AgentOperationId, call: AgentCall, backend: ApiBackend): Promise<WireResponse> {
  switch (id) {
    case 'root':
      return agentJsonAnswer(rootDocument(call.request.base))
    case 'version':
      return agentJsonAnswer(versionDocument(call.request.base))
    case 'status':
      return agentJsonAnswer({ started_at: backend.startedAt / 1000, version: AGENT_VERSION })
    case 'listCommands': {
      const commands = backend.commands()
      if (commands.at(-1)?.status !== 'RUNNING') backend.resultsRead()
      return agentJsonAnswer({ commands: commands.map(toWire) })
    }
    case 'getCommand': {
      const command = backend.commands().find((record) => record.id === call.segment)
      if (!command) throw agentErrors.unknownResult(call.segment)
      const shown = await joined(command, call.query, backend)
      if (shown.status !== 'RUNNING') backend.resultsRead()
      return agentJsonAnswer(toWire(shown))
    }
    case 'executeCommand': {
      const body = parseRequest(call.request.body ?? '')
      if ('status' in body) return body
      return agentJsonAnswer(toWire(await joined(await backend.post(body), call.query, backend)))
    }
  }
}

/** Waits for the end of a command when `wait` is true in any case; `1` and `yes` do not count. */
const joined = async (command: CommandRecord, query: URLSearchParams, backend: ApiBackend): Promise<CommandRecord> =>
  query.get('wait')?.toLowerCase() === 'true' ? backend.ended(command.id) : command

function parseRequest(text: string): CommandRequest | WireResponse {
  let body: unknown
  try {
    // Python's parser skips a byte order mark.
    body = JSON.parse(text.replace(/^\ufeff/, ''))
    checkNesting(body, 'the request body')
  } catch (error) {
    return fault(400, agentFaults.undecodable((error as Error).message))
  }
  if (!isObject(body) || typeof body.name !== 'string' || !isObject(body.params))
    return fault(400, agentFaults.missingNameOrParams)
  return { name: body.name, params: body.params }
}

/** Command as the API shows it: exactly five keys, so parameters, with their secrets, never leave the agent. */
export function toWire({ id, name, status, error, result }: CommandRecord): CommandResult {
  return { id, command_name: name, command_status: status, command_error: error, command_result: result }
}

function methodNotAllowed(matches: readonly { operation: AgentOperation }[]): WireResponse {
  const allowed = new Set(matches.map(({ operation }) => operation.method as string))
  if (allowed.has('GET')) allowed.add('HEAD')
  const answer = fault(405, agentFaults.methodNotAllowed)
  return { ...answer, headers: { ...answer.headers, allow: [...allowed].sort().join(', ') } }
}

function redirect(location: string): WireResponse {
  const shown = location.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  const body = `<!doctype html>\n<html lang=en>\n<title>Redirecting...</title>\n<h1>Redirecting...</h1>\n<p>You should be redirected automatically to the target URL: <a href="${shown}">${shown}</a>. If not, click the link.\n`
  return { status: 308, headers: { 'content-type': 'text/html; charset=utf-8', location }, body }
}

const plainAnswer = (status: number, body: string): WireResponse => ({
  status,
  headers: { 'content-type': 'text/plain' },
  body,
})

const agentJsonAnswer = (body: unknown, status = 200): WireResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

const fault = (status: number, sentence: string): WireResponse => agentJsonAnswer(agentFault(status, sentence), status)

/** Answer to a body that could not be read: too large, cut off, of unknown encoding. */
export const bodyRefused = (status: number, why: string): WireResponse =>
  fault(status, `${status} ${STATUS_CODES[status] ?? 'Bad Request'}: ${why}`)
