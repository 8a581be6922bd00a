import { differences } from '../contract/conforms.js'
import { MOMENTARY, type Seen } from '../contract/lifecycle-stage.js'
import type { LifecycleExchange, LifecycleRecording } from '../contract/lifecycle-recording.js'

/** Our machine shows no BMC to its OS; a command that fails is still RUNNING in its first answer. */
const APART = [...MOMENTARY, 'bmc_address', 'bmc_v6address', 'command_error']

/**
 * Where what our agent and a real Ironic said to each other parts from what the real agent and Ironic had said: which
 * exchanges in which order, the versions asked for, and the shapes of what our agent sent. Empty when nothing does.
 *
 * @param part how the step of the recording begins
 * @param apart exchanges of the recording, by sequence number, that are not made here, with the reason
 */
export function partsFrom(
  recording: LifecycleRecording,
  part: string,
  seen: readonly Seen[],
  uuid: string,
  apart: Readonly<Record<number, string>> = {},
): string[] {
  const recorded = recording.exchanges.filter(
    ({ step, from, seq }) => step?.startsWith(part) && from !== 'client' && apart[seq] === undefined,
  )
  if (recorded.length === 0) throw new Error(`nothing was recorded of "${part}"`)
  // Recordings of TLS lack the requests of Ironic to the agent.
  const oneSided = recorded.every(({ from }) => from === 'agent')
  const relevant = heard(seen).filter(({ from }) => !oneSided || from === 'agent')
  const wanted = recorded.map(labelOf)
  const label = (each: Seen) => labelOf(asRecorded(each, uuid))
  const ours = withoutBeatsBetween(relevant, wanted, label)
  const made = ours.map(label)
  if (wanted.join('\n') !== made.join('\n'))
    return [`exchanged\n  ${made.join('\n  ')}\nrecorded\n  ${wanted.join('\n  ')}`]
  return recorded.flatMap((exchange, index) => {
    const { from, request, answer, headers } = ours[index]!
    const found: string[] = []
    const version = headers['x-openstack-ironic-api-version'] ?? headers['X-OpenStack-Ironic-API-Version']
    if (from === 'agent' && version !== exchange.version)
      found.push(` version is ${version}, recorded ${exchange.version}`)
    // The other half is the real Ironic's.
    const row = from === 'agent' ? exchange.request : exchange.answer
    const shape = row === undefined ? undefined : recording.shapes[row]!
    const value =
      from === 'ironic' ? answer : 'agent_verify_ca' in Object(shape) ? request : withoutCertificate(request)
    if (shape !== undefined)
      found.push(...differences(value, shape, { internals: recording.internals, momentary: APART }))
    return found.slice(0, 8).map((each) => `#${exchange.seq} ${labelOf(exchange)}:${each}`)
  })
}

/**
 * Removes exchanges that depend on timing: requests without an answer because the machine powered off, lookups and
 * heartbeats that met Ironic's lock and were repeated, and requests for the result of a running command.
 */
function heard(seen: readonly Seen[]): Seen[] {
  const answered = seen.filter((each) => {
    if (isLookup(each)) return each.status === 200
    // Also one that comes while Ironic already works on an earlier one, which it answered.
    if (isHeartbeat(each) && each.status === 409) return false
    return each.status !== 0 && !(each.from === 'ironic' && each.method === 'GET' && stillRunning(each.answer))
  })
  return answered.filter((each, index) => {
    const next = answered[index + 1]
    if (each.from === 'agent' && each.target === '/') return isLookup(next)
    return !isHeartbeat(each) || next?.from === 'ironic'
  })
}

/** All recordings but agent-tls are of agents without TLS, which adds nothing else to a heartbeat. */
function withoutCertificate(request: unknown): unknown {
  const { agent_verify_ca: certificate, ...rest } = (request ?? {}) as Record<string, unknown>
  return typeof certificate === 'string' && certificate.startsWith('-----BEGIN CERTIFICATE-----') ? rest : request
}

/** Without heartbeats that were not recorded where they came: they go on while a busy Ironic takes its time. */
function withoutBeatsBetween(seen: readonly Seen[], wanted: readonly string[], label: (each: Seen) => string): Seen[] {
  const distinct: Seen[] = []
  for (const each of seen)
    if (label(each) === wanted[distinct.length] || !each.target.startsWith('/v1/heartbeat')) distinct.push(each)
  return distinct
}

const isHeartbeat = ({ from, target }: Seen): boolean => from === 'agent' && target.startsWith('/v1/heartbeat')

const isLookup = (each: Seen | undefined): boolean => each?.target.startsWith('/v1/lookup') ?? false

function stillRunning(answer: unknown): boolean {
  const { commands = [] } = (answer ?? {}) as { commands?: { command_status: string }[] }
  return commands.at(-1)?.command_status === 'RUNNING'
}

const asRecorded = ({ from, method, target, status, request }: Seen, uuid: string) => ({
  from,
  method,
  status,
  path: target.replaceAll(uuid, '{node}').replace(/agent_token=[\w-]{43}/, 'agent_token={token}'),
  command: from === 'ironic' ? (request as { name?: string } | null)?.name : undefined,
})

/** One line that says which exchange it is. MAC addresses differ, and whether the uuid is known beforehand. */
function labelOf({
  from,
  method,
  path,
  command,
  status,
}: Pick<LifecycleExchange, 'from' | 'method' | 'path' | 'status'> & { command?: string | undefined }): string {
  const where = path.replace(/^\/v1\/lookup\?.*$/, '/v1/lookup')
  return [from, method, where, command ?? '', status].filter((each) => each !== '').join(' ')
}
