import type { NodeRecord, WireResponse } from '../../base/wire/index.js'
import { differences, type ConformsOptions } from './conforms.js'
import type { LifecycleExchange, LifecycleRecording, Look } from './lifecycle-recording.js'
import type { LifecycleStage, Seen } from './lifecycle-stage.js'

export interface FollowOptions {
  /** Only these steps of the recording, by the beginning of their names. */
  only?: readonly string[]
  /** Replaced in what the client sends. */
  replace?: Readonly<Record<string, string>>
  /** Exchanges, by sequence number, that we answer or make otherwise on purpose, with the reason. */
  onPurpose?: Readonly<Record<number, string>>
  /** Exchanges between agent and Ironic that are not made here, with the reason. */
  notMade?: Readonly<Record<number, string>>
  /** Looks at the node that cannot be had here, with the reason. */
  notSeen?: Readonly<Record<number, string>>
  /** See {@link ConformsOptions}. */
  momentary?: readonly string[]
  internalApart?: readonly string[]
  /** How a step of the recording begins. */
  before?: (step: string) => void | Promise<void>
  /** Sentences of ours where the recorded one is not Ironic's or not ours to repeat. */
  sentences?: Readonly<Record<number, string>>
}

/**
 * Does what the recorded client did, to a lab of ours, and tells where what followed parts from what was recorded: the
 * answers, the exchanges between agent and Ironic in their order, the states that the node went through. Empty when
 * nothing does.
 */
export async function follow(
  stage: LifecycleStage,
  recording: LifecycleRecording,
  options: FollowOptions = {},
): Promise<string[]> {
  const follower = new Follower(stage, recording, options)
  for (const part of parts(recording.exchanges)) {
    const [first] = part
    if (options.only && !options.only.some((name) => first!.step.startsWith(name))) continue
    await options.before?.(nameOf(first!))
    await follower.part(part)
  }
  return follower.found
}

const nameOf = ({ step }: LifecycleExchange): string => step.replace(/ \| .*$/, '')

function parts(exchanges: readonly LifecycleExchange[]): LifecycleExchange[][] {
  const out: LifecycleExchange[][] = []
  for (const exchange of exchanges) {
    const last = out.at(-1)
    if (last && nameOf(last[0]!) === nameOf(exchange)) last.push(exchange)
    else out.push([exchange])
  }
  return out
}

const isLook = ({ from, method, node, path }: LifecycleExchange): boolean =>
  from === 'client' && method === 'GET' && node !== undefined && path === '/v1/nodes/{node}'

class Follower {
  readonly found: string[] = []
  readonly #stage: LifecycleStage
  readonly #recording: LifecycleRecording
  readonly #options: FollowOptions
  readonly #conforms: ConformsOptions
  #last: Look | undefined

  constructor(stage: LifecycleStage, recording: LifecycleRecording, options: FollowOptions) {
    this.#stage = stage
    this.#recording = recording
    this.#options = options
    const { momentary = [], internalApart = [] } = options
    this.#conforms = { internals: recording.internals, momentary, internalApart }
  }

  async part(exchanges: readonly LifecycleExchange[]): Promise<void> {
    const { seen, states, lab, uuid } = this.#stage
    const seenBefore = seen.length
    const statesBefore = states.length
    const agent = exchanges.some(({ from }) => from !== 'client')
    // The recorded machine was not booted where no agent was wanted.
    using _ =
      agent || uuid === '' ? undefined : lab.faults.add({ match: { node: uuid }, effect: { kind: 'agent-silent' } })
    try {
      for (const exchange of exchanges) if (exchange.from === 'client') await this.#client(exchange)
      await this.#settle()
    } catch (cause) {
      throw new Error([`in "${nameOf(exchanges[0]!)}"`, ...this.found, cause].join('\n'), { cause })
    }
    this.#traffic(
      exchanges.filter(({ from }) => from !== 'client'),
      // Recorded is what ended: a machine that is switched off gets no answer.
      seen.slice(seenBefore).filter(({ status }) => status !== 0),
    )
    this.#looks(exchanges.filter(isLook), states.slice(Math.max(0, statesBefore - 1)))
  }

  /** Waits until the node has come to rest where the recorded one had. */
  async #settle(): Promise<void> {
    const look = this.#last
    if (!look) return
    const there = (node: Readonly<NodeRecord>) =>
      node.provision_state === look.state[0] && node.reservation === null && node.target_power_state === null
    await this.#stage.until(there).catch(async (cause: unknown) => {
      const { provision_state: state, last_error: error } = await this.#stage.node()
      throw new Error(`the node never came to rest in ${look.state[0]}: it is ${state}, ${error}`, { cause })
    })
  }

  async #client(exchange: LifecycleExchange): Promise<void> {
    if (isLook(exchange)) this.#last = exchange.node
    if (isLook(exchange) && exchange.answer === undefined) return
    await this.#settle()
    const { method, path, version = '', body } = exchange
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
    // The next look shows the effect of the request; without a look the client did not wait.
    if (method !== 'GET') this.#last = undefined
    const response = await this.#stage.send(method, this.#ours(path), text && this.#ours(text), version)
    const created = method === 'POST' && path === '/v1/nodes' ? (JSON.parse(response.body!) as { uuid: string }) : null
    if (created) await this.#stage.adopt(created.uuid)
    this.#answer(exchange, response)
  }

  #ours(text: string): string {
    let out = text.replaceAll('{node}', this.#stage.uuid)
    for (const [recorded, ours] of Object.entries(this.#options.replace ?? {})) out = out.replaceAll(recorded, ours)
    return out
  }

  #answer(exchange: LifecycleExchange, { status, body }: WireResponse): void {
    if (this.#options.onPurpose?.[exchange.seq] !== undefined) return
    if (status !== exchange.status) this.#tell(exchange, `status is ${status}, recorded ${exchange.status}`)
    const value: unknown = body === undefined ? null : JSON.parse(body)
    if (exchange.error !== undefined) {
      const { faultstring } = JSON.parse((value as { error_message: string }).error_message) as { faultstring: string }
      this.#sentence(exchange, exchange.error, faultstring)
    } else this.#shape(exchange, 'answer', exchange.answer, value)
    if (exchange.history) this.#history(exchange, value as { history: { severity: string; event: string }[] })
  }

  #history(exchange: LifecycleExchange, { history }: { history: { severity: string; event: string }[] }): void {
    const ours = history.map(({ severity, event }) => `${severity} ${event}`)
    exchange.history!.forEach((entry, index) => this.#sentence(exchange, entry, ours[index] ?? '(no entry)'))
    if (ours.length > exchange.history!.length)
      this.#tell(exchange, `history also has ${ours.slice(exchange.history!.length).join('; ')}`)
  }

  #sentence(exchange: LifecycleExchange, recorded: string, ours: string): void {
    const meant = this.#options.sentences?.[exchange.seq]
    const wanted = this.#ours(meant ?? recorded)
    const host = (text: string) => text.replace(/locked by host \S+,/, 'locked by host HOST,')
    if (host(ours) !== host(wanted))
      this.#tell(exchange, `says ${JSON.stringify(ours)}, recorded ${JSON.stringify(wanted)}`)
  }

  #shape(exchange: LifecycleExchange, what: string, row: number | undefined, value: unknown): void {
    if (row === undefined) {
      if (value !== null && this.#recording.shapes.length > 0) this.#tell(exchange, `${what} is there, recorded none`)
      return
    }
    const found = differences(value, this.#recording.shapes[row]!, this.#conforms)
    for (const each of found.slice(0, 8)) this.#tell(exchange, `${what}${each}`)
  }

  /** Compares the exchanges between agent and Ironic with the recorded ones. */
  #traffic(recorded: readonly LifecycleExchange[], seen: readonly Seen[]): void {
    const expected = recorded.filter(({ seq }) => this.#options.notMade?.[seq] === undefined)
    const labels = expected.map(labelOf)
    const ours = seen.map((each) =>
      labelOf({ ...each, path: this.#recordedPath(each.target), command: commandOf(each) }),
    )
    if (labels.join('\n') !== ours.join('\n')) {
      const apart = recorded.flatMap(({ seq }) => this.#options.notMade?.[seq] ?? [])
      const why =
        apart.length === 0 ? '' : `\nwithout those of which it is known that ${[...new Set(apart)].join('; ')}`
      this.#tell(
        recorded[0] ?? expected[0]!,
        `exchanged\n  ${ours.join('\n  ')}\nrecorded\n  ${labels.join('\n  ')}${why}`,
      )
    } else
      expected.forEach((exchange, index) => {
        const our = seen[index]!
        const version = our.headers['x-openstack-ironic-api-version'] ?? our.headers['X-OpenStack-Ironic-API-Version']
        if (version !== exchange.version) this.#tell(exchange, `version is ${version}, recorded ${exchange.version}`)
        if (this.#options.onPurpose?.[exchange.seq] !== undefined) return
        this.#shape(exchange, 'request', exchange.request, our.request)
        if (exchange.error === undefined) this.#shape(exchange, 'answer', exchange.answer, our.answer)
        const token = (our.answer as { config?: { agent_token?: string } } | null)?.config?.agent_token
        const sentToken = token === undefined ? undefined : token === '******' ? 'masked' : 'given'
        if (sentToken !== exchange.token) this.#tell(exchange, `token is ${sentToken}, recorded ${exchange.token}`)
      })
  }

  #recordedPath(target: string): string {
    const { uuid } = this.#stage
    return target
      .replace(`/${uuid}/v1`, '/v1')
      .replaceAll(uuid, '{node}')
      .replace(/agent_token=[\w-]{43}/, 'agent_token={token}')
  }

  /**
   * Every recorded look must be one of the states that our node went through, in their order. We commit at once what
   * upstream commits bit by bit (power, then step, then lock ...): a look may also be a mix of one state of ours and its
   * next.
   */
  #looks(looks: readonly LifecycleExchange[], states: readonly Readonly<NodeRecord>[]): void {
    const ours = states.map(visible)
    let at = 0
    for (const exchange of looks) {
      if (this.#options.notSeen?.[exchange.seq] !== undefined) continue
      const look = this.#expected(exchange)
      const index = ours.findIndex((one, index) => index >= at && this.#fits(look, one, ours[index + 1] ?? one))
      if (index >= 0) at = index
      else
        this.#tell(
          exchange,
          `never looked like\n  ${line(look)}\nbut went through\n  ${ours.slice(at).map(line).join('\n  ')}`,
        )
    }
  }

  #expected({ seq, node }: LifecycleExchange): Visible {
    const { state, power, locked, step = null, last_error = null, fault = null, internal } = node!
    const error = this.#options.sentences?.[seq] ?? last_error
    const keys = this.#recording.internals[internal]!
    return {
      fields: {
        state: state[0],
        target: state[1],
        power: power[0],
        targetPower: power[1],
        locked,
        step,
        fault,
        error: error && this.#ours(error),
      },
      internal: keys.filter((key) => !this.#conforms.internalApart?.includes(key)),
    }
  }

  #fits(look: Visible, one: Visible, next: Visible): boolean {
    const fields = Object.keys(look.fields) as (keyof Visible['fields'])[]
    const { internal } = look
    const both = one.internal.filter((key) => next.internal.includes(key))
    return (
      fields.every((field) => {
        // fake-hardware does not know its power before it was told one.
        if (field === 'power' && look.fields.power === null) return true
        return look.fields[field] === one.fields[field] || look.fields[field] === next.fields[field]
      }) &&
      internal.every((key) => one.internal.includes(key) || next.internal.includes(key)) &&
      both.every((key) => internal.includes(key) || this.#conforms.internalApart?.includes(key))
    )
  }

  #tell({ seq, method, path }: LifecycleExchange, what: string): void {
    this.found.push(`#${seq} ${method} ${path}: ${what}`)
  }
}

/** Fields of a node that show its state. */
interface Visible {
  fields: Record<'state' | 'target' | 'power' | 'targetPower' | 'locked' | 'step' | 'fault' | 'error', unknown>
  internal: readonly string[]
}

function visible(node: Readonly<NodeRecord>): Visible {
  const steps = [node.clean_step, node.deploy_step, node.service_step] as ({ step?: string } | null)[]
  return {
    fields: {
      state: node.provision_state,
      target: node.target_provision_state,
      power: node.power_state,
      targetPower: node.target_power_state,
      locked: node.reservation !== null,
      step: steps.find((each) => each?.step !== undefined)?.step ?? null,
      fault: node.maintenance ? node.fault : null,
      error: node.last_error,
    },
    internal: Object.keys(node.driver_internal_info),
  }
}

const line = ({ fields, internal }: Visible): string =>
  [...Object.entries(fields).map(([name, value]) => `${name}=${String(value)}`), internal.join()].join(' ')

const commandOf = ({ from, request }: Seen): string | undefined =>
  from === 'ironic' ? (request as { name?: string } | null)?.name : undefined

/** One line that says which exchange it is: `agent GET /v1/lookup?addresses=... 200`. */
function labelOf({
  from,
  method,
  path,
  command,
  status,
}: Pick<LifecycleExchange, 'from' | 'method' | 'path' | 'status'> & { command?: string | undefined }): string {
  return [from, method, path, command ?? '', status].filter((each) => each !== '').join(' ')
}
