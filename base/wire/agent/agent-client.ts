import { SchemaCompiler } from '../../schemas/index.js'
import { checkNesting, defined, errorChain, isObject, jsonText, withinLimit, type Clock } from '../../runtime/index.js'
import { ConnectionFailed, type Transport, type WireResponse } from '../wire-exchange.js'
import type { JsonObject } from '../ironic/node.js'
import { pythonJsonError } from '../python/python-json-error.js'
import type { CommandList, CommandResult } from './command-results.js'

/** An agent as the conductor knows it: from its heartbeats, its lookup and the node they were for. */
export interface AgentPeer {
  /** The callback URL, without trailing slash. */
  readonly url: string
  /** Goes into the query; left out when none is known. */
  readonly token: string | undefined
  /** PEM of the certificate that it sent with its heartbeats. */
  readonly verifyCa?: string
  /** The node's uuid, for sentences. */
  readonly node: string
}

/** The agent did not answer, nor did it answer the retries. */
export class AgentConnectionFailed extends Error {
  override name = 'AgentConnectionFailed'
}

/** The agent is at something else; the caller comes back at the next heartbeat. */
export class AgentInProgress extends Error {
  override name = 'AgentInProgress'
}

/** The agent answered with an error. */
export class AgentApiError extends Error {
  override name = 'AgentApiError'
}

/** The agent answered with something that is no answer. */
class AgentAnswerUnreadable extends Error {
  override name = 'AgentAnswerUnreadable'
}

export interface AgentClientOptions {
  transport: Transport
  clock: Clock
  /** Milliseconds until an exchange counts as unanswered. */
  timeout: number
  /** How often an unanswered request is sent. */
  attempts: number
}

/**
 * The conductor's side of the agent's commands API (ironic 39.0.0 drivers/modules/agent_client.py AgentClient). Paths
 * keep their trailing slash: the agent redirects without it.
 *
 * @throws AgentConnectionFailed | AgentInProgress | AgentApiError | AgentAnswerUnreadable from every method
 */
export interface AgentClient {
  /** All commands since the agent's start, oldest first. */
  commands(peer: AgentPeer, signal?: AbortSignal): Promise<CommandResult[]>
  /**
   * Sends a command, named `extension.command`. With `wait` the answer comes when it has ended. One that went
   * unanswered but shows up running in the agent's list was received, and counts as sent.
   */
  execute(
    peer: AgentPeer,
    name: string,
    params: JsonObject,
    options?: { wait?: boolean; signal?: AbortSignal },
  ): Promise<CommandResult>
}

export function agentClient(options: AgentClientOptions): AgentClient {
  const { attempts } = options

  const list = async (peer: AgentPeer, tries: number, signal?: AbortSignal): Promise<CommandResult[]> => {
    for (let attempt = 1; ; attempt++)
      try {
        const response = await send(options, peer, { method: 'GET', url: commandsUrl(peer) }, signal)
        return readCommandList(peer, response)
      } catch (error) {
        if (attempt >= tries || !(error instanceof ConnectionFailed))
          return throwAgentUnreachable(peer, 'to collect commands status', error)
      }
  }
  const commands: AgentClient['commands'] = (peer, signal) => list(peer, attempts, signal)

  const execute: AgentClient['execute'] = async (peer, name, params, { wait = false, signal } = {}) => {
    const url = commandsUrl(peer, { wait: String(wait) })
    const body = jsonText({ name, params }, `the parameters of the agent's command ${name}`)
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await send(options, peer, { method: 'POST', url, body }, signal)
        return readCommandResult(peer, response, name)
      } catch (error) {
        if (!(error instanceof ConnectionFailed)) throw error
        if (attempt < attempts) continue
        const last = (await list(peer, 1, signal).catch(() => [])).at(-1)
        if (last?.command_status === 'RUNNING' && last.command_name === name.split('.').at(-1)) return last
        return throwAgentUnreachable(peer, `for invoking command ${name}`, error)
      }
    }
  }

  return { commands, execute }
}

function commandsUrl({ url, token }: AgentPeer, query: Record<string, string> = {}): string {
  const parameters = new URLSearchParams(query)
  if (token !== undefined) parameters.set('agent_token', token)
  const text = parameters.toString()
  return `${url}/v1/commands/${text === '' ? '' : `?${text}`}`
}

function send(
  { transport, clock, timeout }: AgentClientOptions,
  { verifyCa }: AgentPeer,
  request: { method: string; url: string; body?: string },
  signal: AbortSignal | undefined,
): Promise<WireResponse> {
  const late = () => new ConnectionFailed(`no answer within ${timeout / 1000} s`)
  return withinLimit({ ms: timeout, clock, signal, late }, (either) =>
    transport.send({
      ...request,
      headers: { accept: '*/*', 'content-type': 'application/json' },
      ...defined({ ca: verifyCa }),
      signal: either,
    }),
  )
}

function throwAgentUnreachable(peer: AgentPeer, purpose: string, error: unknown): never {
  if (!(error instanceof ConnectionFailed)) throw error
  throw new AgentConnectionFailed(
    `Connection to agent failed: Failed to connect to the agent running on node ${peer.node} ${purpose}. Error: ${errorChain(error).join(': ')}`,
    { cause: error },
  )
}

const answerSchemas = new SchemaCompiler({ stopsAtFirst: true })
const commandSchema = {
  type: 'object',
  required: ['command_name', 'command_status'],
  properties: { command_name: { type: 'string' }, command_status: { type: 'string' } },
}
const listSchema = {
  type: 'object',
  required: ['commands'],
  properties: { commands: { type: 'array', items: commandSchema } },
}

const isCommandResult = answerSchemas.check<CommandResult>(commandSchema).accepts
const isCommandList = answerSchemas.check<CommandList>(listSchema).accepts

/** Reads the list at any status of the answer, as upstream does: its errors are those of Python's reader. */
function readCommandList(peer: AgentPeer, { body = '' }: WireResponse): CommandResult[] {
  const value = readJson(body, () => pythonJsonError(body))
  if (isCommandList(value)) return value.commands
  if (isObject(value) && !('commands' in value)) throw new AgentAnswerUnreadable("'commands'")
  throw noCommand(peer, body)
}

function readCommandResult(peer: AgentPeer, { status, body = '' }: WireResponse, command: string): CommandResult {
  const value = readJson(body, () => {
    const url = commandsUrl({ ...peer, token: undefined })
    const answer = `Response status code: ${status}\nResponse: "${shortened(body)}"`
    return `Unable to decode response as JSON.\nRequest URL: ${url}\n${answer}`
  })
  if (status >= 400) throw rejected(peer, status, value, command)
  if (isCommandResult(value)) return value
  throw noCommand(peer, body)
}

/** Upstream's sentence says all, so that the error of our own reader is no cause of it. */
function readJson(body: string, describe: () => string): unknown {
  try {
    const value: unknown = JSON.parse(body)
    checkNesting(value, 'the answer')
    return value
  } catch {
    throw new AgentAnswerUnreadable(describe())
  }
}

const MAX_SHOWN_ANSWER = 200
const shortened = (body: string): string => body.slice(0, MAX_SHOWN_ANSWER)

const noCommand = (peer: AgentPeer, body: string): Error =>
  new AgentAnswerUnreadable(
    `The agent of node ${peer.node} answered with something that is no command: ${shortened(body)}`,
  )

function rejected(peer: AgentPeer, status: number, value: unknown, command: string): Error {
  const fault = isObject(value) ? value.faultstring : undefined
  // Upstream looks for words in a fault string that is not there.
  if (typeof fault !== 'string') return new AgentAnswerUnreadable("argument of type 'NoneType' is not iterable")
  if (status === 409 || fault.toLowerCase().includes('agent is busy'))
    return new AgentInProgress(
      `Node ${peer.node} command "${command}" failed. Agent is presently executing a command. Error ${fault}`,
    )
  return new AgentApiError(`Agent API for node ${peer.node} returned HTTP status code ${status} with error: ${fault}`)
}
