import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { defined } from '../../../../base/runtime/index.js'
import { normaliser, type Normal } from './normalise.js'
import type { Call, Script } from './script.js'

/** The answer of a call; values that change with every run are replaced by words. */
export interface Answer {
  readonly label: string
  /** Whether the call changes something. */
  readonly writes: boolean
  /** Calls that stand apart together have a number of their own. */
  readonly apart: number | undefined
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: unknown
  /** States that were observed until the record was at rest, and the record at rest. */
  readonly states?: readonly string[]
  readonly rest?: unknown
}

export interface Side {
  readonly url: string
  /** Its conductor's name. */
  readonly conductor: string
}

const HEADERS = [
  'content-type',
  'allow',
  'location',
  'x-openstack-ironic-api-version',
  'x-openstack-ironic-api-minimum-version',
  'x-openstack-ironic-api-maximum-version',
] as const

/** The newest microversion that both sides speak. */
export const COMPARED_MICROVERSION = '1.115'

interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: unknown
}

/** Makes a script's calls of one side, in order. */
export async function play(script: Script, side: Side): Promise<Answer[]> {
  // Ironic closes connections when it likes, so none is used twice.
  const agent = new Agent({ pipelining: 0 })
  const values = new Map<string, string>()
  const normal = normaliser(script, side)
  const send = async ({ method, path, version = COMPARED_MICROVERSION, headers, body }: Call): Promise<Got> => {
    const response = await request(side.url + filled(path, values), {
      method,
      dispatcher: agent,
      headers: {
        ...defined({
          'x-openstack-ironic-api-version': version ?? undefined,
          'content-type': body === undefined ? undefined : 'application/json',
        }),
        ...headers,
      },
      ...defined({
        body: body === undefined ? undefined : filled(typeof body === 'string' ? body : JSON.stringify(body), values),
      }),
    })
    const text = await response.body.text()
    return { status: response.statusCode, headers: response.headers, body: unfolded(parsed(text)) }
  }
  const answers: Answer[] = []
  const make = async (call: Call, apart: number | undefined) => {
    const { status, headers, body } = await unlocked(() => send(call))
    if (call.must !== undefined && status !== call.must)
      throw new Error(
        `${script.name}: ${side.conductor} answers ${status} to ${labelOf(call)}: ${JSON.stringify(body)}`,
      )
    for (const [name, member] of Object.entries(call.keep ?? {})) {
      const value = (body as Record<string, unknown> | undefined)?.[member]
      if (typeof value === 'string') values.set(name, value)
      else values.delete(name)
    }
    const rest = call.settle === undefined ? {} : await atRest(filled(call.settle, values), send, normal)
    answers.push({
      label: labelOf(call),
      writes: call.method !== 'GET' && call.method !== 'HEAD',
      apart,
      status,
      ...rest,
      headers: Object.fromEntries(HEADERS.map((name) => [name, normal(headers[name]) as string | undefined])),
      body: normal(body),
    })
  }
  try {
    for (const [index, item] of script.calls.entries())
      if ('method' in item) await make(item, undefined)
      else for (const call of item) await make(call, index)
    return answers
  } finally {
    await agent.close()
  }
}

function labelOf({ method, path, version, body }: Call): string {
  const sent = body === undefined ? '' : ` ${typeof body === 'string' ? body : JSON.stringify(body)}`
  return `${method} ${path}${version === undefined ? '' : ` at ${version ?? 'no version'}`}${sent.slice(0, 300)}`
}

/** Repeats a call that met a lock, of the node or of SQLite: which of two calls meets one depends on timing. */
async function unlocked(send: () => Promise<Got>): Promise<Got> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const got = await send()
    if (got.status < 409 || !/ is locked by host |database is locked/.test(JSON.stringify(got.body))) return got
    if (Date.now() > deadline) return got
    await sleep(20)
  }
}

async function atRest(
  path: string,
  send: (call: Call) => Promise<Got>,
  normal: Normal,
): Promise<{ states: string[]; rest: unknown }> {
  const states: string[] = []
  const deadline = Date.now() + 60_000
  let quiet = 0
  for (;;) {
    const { status, body } = await send({ method: 'GET', path })
    if (status !== 200) return { states, rest: normal(body) }
    const seen = body as Record<string, string | null | undefined>
    // The state of a node or of an allocation.
    const state = String(seen['provision_state'] ?? seen['state'])
    if (states.at(-1) !== state) states.push(state)
    const busy = (seen['reservation'] ?? null) !== null || (seen['target_power_state'] ?? null) !== null
    quiet = busy || /ing$/.test(state) ? 0 : quiet + 1
    // Twice, since Ironic lets go of a node for a moment between taking a call and working on it.
    if (quiet === 2 || Date.now() > deadline) return { states, rest: normal(body) }
    // Each look is work for Ironic, which the node's own then waits for.
    await sleep(quiet === 0 ? 70 : 40)
  }
}

const filled = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values.get(name) ?? whole)

function parsed(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Ironic puts an error as JSON text into a member; read, it compares member by member. */
function unfolded(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body
  const { error_message: message } = body as { error_message?: unknown }
  return typeof message === 'string' ? { error_message: parsed(message) } : body
}
