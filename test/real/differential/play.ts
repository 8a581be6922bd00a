import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { Call, Script } from './script.js'

/** What a call brought, with everything that differs from run to run replaced by a word. */
export interface Answer {
  readonly label: string
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: unknown
  /** The provision states that the node went through until it rested, and how it rests. */
  readonly way?: readonly string[]
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
export const NEWEST = '1.115'

/** Makes a script's calls of one side, in order. */
export async function play(script: Script, side: Side): Promise<Answer[]> {
  // Ironic closes connections when it likes, so none is used twice.
  const agent = new Agent({ pipelining: 0 })
  const kept = new Map<string, string>()
  const normal = normaliser(script, side)
  const send = async ({ method, path, version = NEWEST, headers, body }: Call) => {
    const response = await request(side.url + filled(path, kept), {
      method,
      dispatcher: agent,
      headers: {
        ...(version === null ? {} : { 'x-openstack-ironic-api-version': version }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: filled(typeof body === 'string' ? body : JSON.stringify(body), kept) }),
    })
    const text = await response.body.text()
    return { status: response.statusCode, headers: response.headers, body: parsed(text) }
  }
  const answers: Answer[] = []
  try {
    for (const call of script.calls) {
      const { status, headers, body } = await send(call)
      for (const [name, member] of Object.entries(call.keep ?? {}))
        kept.set(name, String((body as Record<string, unknown> | undefined)?.[member]))
      const version = call.version === undefined ? '' : ` at ${call.version ?? 'no version'}`
      const sent =
        call.body === undefined ? '' : ` ${typeof call.body === 'string' ? call.body : JSON.stringify(call.body)}`
      answers.push({
        label: `${call.method} ${call.path}${version}${sent.slice(0, 300)}`,
        status,
        headers: Object.fromEntries(HEADERS.map((name) => [name, normal(headers[name]) as string | undefined])),
        body: normal(unfolded(body)),
        ...(call.settle === undefined ? {} : normalRest(await atRest(filled(call.settle, kept), send), normal)),
      })
    }
    return answers
  } finally {
    await agent.close()
  }
}

type Normal = (value: unknown) => unknown

const normalRest = ({ way, node }: { way: string[]; node: unknown }, normal: Normal) => ({ way, rest: normal(node) })

async function atRest(
  node: string,
  send: (call: Call) => Promise<{ status: number; body: unknown }>,
): Promise<{ way: string[]; node: unknown }> {
  const way: string[] = []
  const deadline = Date.now() + 60_000
  let quiet = 0
  for (;;) {
    const { status, body } = await send({ method: 'GET', path: `/v1/nodes/${node}` })
    if (status !== 200) return { way, node: body }
    const seen = body as Record<string, string | null>
    const state = String(seen['provision_state'])
    if (way.at(-1) !== state) way.push(state)
    const busy = seen['reservation'] !== null || seen['target_power_state'] !== null || /ing$/.test(state)
    quiet = busy ? 0 : quiet + 1
    // Twice, since Ironic lets go of a node for a moment between taking a call and working on it.
    if (quiet === 2 || Date.now() > deadline) return { way, node: body }
    await sleep(busy ? 20 : 40)
  }
}

const filled = (text: string, kept: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => kept.get(name) ?? whole)

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

const TIME = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?/g
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** Replaces what differs between any two runs; a UUID that the script itself gave stays. */
function normaliser(script: Script, { url, conductor }: Side): Normal {
  const given = new Set(JSON.stringify(script).match(UUID) ?? [])
  const uuid = (text: string) => (given.has(text) ? text : '{uuid}')
  const word = (text: string) =>
    text
      .replaceAll(url, '{url}')
      .replaceAll(/req-[0-9a-f-]{36}/g, '{request}')
      .replaceAll(TIME, '{time}')
      .replaceAll(UUID, uuid)
      .replaceAll(conductor, '{conductor}')
  const normal: Normal = (value) => {
    if (typeof value === 'string') return word(value)
    if (Array.isArray(value)) return value.map(normal)
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [word(key), normal(member)]))
    return value
  }
  return normal
}
