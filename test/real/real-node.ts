import { openStandaloneAgent, type StandaloneAgent } from '../../apps/runs/index.js'
import { NO_PACE, type CommandEnd } from '../../machine/index.js'
import { managersWith } from '../../steps/index.js'
import { Probe, systemClock, systemRandom, type Logger } from '../../base/runtime/index.js'
import { isExchange, type ApiNode, type ProvisionState, type WireResponse } from '../../base/wire/index.js'
import type { Ran, Seen } from '../contract/lifecycle-stage.js'
import type { RealIronic } from './ironic.js'
import { practice } from './practice-steps.js'
import { followPower } from './power-follower.js'
import { REAL_PEER_TIMEOUT } from './limits.js'

/** A node of a real Ironic, and our agent on the machine behind it. */
export interface RealNode extends AsyncDisposable {
  readonly uuid: string
  readonly agent: StandaloneAgent
  /** Exchanges between agent and Ironic, in the order in which they began. */
  readonly seen: Seen[]
  readonly ran: Ran[]
  /** Provision states as they were seen by polling. */
  readonly states: ProvisionState[]
  readonly log: readonly string[]
  /** Programs of the machine that end with this exit code and these words instead of running, by name. */
  readonly failing: Map<string, CommandEnd>
  /** Done before a program of the machine is run, by its name. */
  readonly before: Map<string, () => Promise<void>>
  /** No ramdisk comes up while this is set. */
  silent: boolean
  /** Further kernel parameters of its ramdisks. */
  readonly parameters: Record<string, string>
  readonly send: RealIronic['send']
  /** Asks for a change of state, which Ironic must take. */
  provision(target: string, fields?: Record<string, unknown>): Promise<void>
  /**
   * Waits until the node rests in a state.
   *
   * @throws when it comes to rest elsewhere, or not in two minutes
   */
  settled(state: ProvisionState): Promise<ApiNode>
  /** Waits until the node is in a state, at rest or not. */
  reached(state: ProvisionState): Promise<ApiNode>
}

/** Registers a node with a machine of its own. */
export async function realNode(
  ironic: RealIronic,
  name: string,
  fields: Record<string, unknown> = {},
): Promise<RealNode> {
  const { send, done } = ironic
  const created = await done(201, 'POST', '/v1/nodes', { driver: 'fake-hardware', name, ...fields })
  const { uuid } = created as ApiNode

  const seen: Seen[] = []
  const ran: Ran[] = []
  const states: ProvisionState[] = []
  const log: string[] = []
  const failing: RealNode['failing'] = new Map()
  const before: RealNode['before'] = new Map()
  const logger: Logger = (level, message) => void (level === 'debug' || log.push(`${level}: ${message}`))
  const agent = await openStandaloneAgent({
    serves: { ironicUrl: ironic.url, nodeUuid: uuid },
    logger,
    probe: witness(seen, ran, { failing, before }),
    clock: systemClock(),
    random: systemRandom,
    managers: managersWith(practice),
    // Long enough for Ironic to begin waiting before the agent calls, as any real ramdisk takes.
    machinePace: { ...NO_PACE, bootRamdisk: 2500 },
  })
  // Until Ironic says otherwise; nothing has been booted yet.
  await agent.machine.setPower('off')
  const { mac: address } = agent.machine.spec.nics[0]!
  await done(201, 'POST', '/v1/ports', { node_uuid: uuid, address, pxe_enabled: true })

  let latest: ApiNode | undefined
  const watchers = new Set<(node: ApiNode | undefined) => void>()
  const self: RealNode = {
    uuid,
    agent,
    seen,
    ran,
    states,
    log,
    failing,
    before,
    silent: false,
    parameters: {},
    send,
    provision: async (target, more = {}) =>
      void (await done(202, 'PUT', `/v1/nodes/${uuid}/states/provision`, { target, ...more })),
    settled: (state) => watch(state, (node) => atRest(node) && node.provision_state === state),
    reached: (state) => watch(state, (node) => node.provision_state === state),
    async [Symbol.asyncDispose]() {
      await following[Symbol.asyncDispose]()
      await agent[Symbol.asyncDispose]()
    },
  }
  const following = followPower({
    machine: agent.machine,
    node: async () => {
      const { status, body } = await send('GET', `/v1/nodes/${uuid}`)
      return status === 200 ? (body as ApiNode) : undefined
    },
    source: (node) => {
      // Deployment's last step and the end of servicing boot what is on the disk.
      const { step } = (node.deploy_step ?? {}) as { step?: string }
      if (/^(active|unrescuing)$/.test(node.provision_state)) return { kind: 'disk' }
      if (node.provision_state === 'deploying' && step !== 'deploy') return { kind: 'disk' }
      if (self.silent) return { kind: 'disk' }
      const inspection = { 'ipa-inspection-callback-url': `${ironic.url}/v1/continue_inspection` }
      const inspects = node.provision_state.startsWith('inspect')
      return {
        kind: 'ramdisk',
        parameters: { 'ipa-api-url': ironic.url, ...(inspects ? inspection : {}), ...self.parameters },
      }
    },
    onNode: (node) => {
      latest = node
      if (node && states.at(-1) !== node.provision_state) states.push(node.provision_state)
      for (const look of watchers) look(node)
    },
    onError: (error) => log.push(`error: the power could not be followed: ${String(error)}`),
    onSwitched: (what) => log.push(what),
  })

  function watch(state: string, there: (node: ApiNode) => boolean): Promise<ApiNode> {
    return new Promise((resolve, reject) => {
      const end = (act: () => void) => {
        watchers.delete(look)
        clearTimeout(timer)
        act()
      }
      const story = () =>
        `${states.join(', ')}; ${latest?.last_error}\n${log.slice(-10).join('\n')}\n${seen
          .slice(-12)
          .map((each) => `${each.from} ${each.method} ${each.target} ${each.status}`)
          .join('\n')}`
      const look = (node: ApiNode | undefined) => {
        if (node && there(node)) end(() => resolve(node))
        else if (node && atRest(node) && ENDS.test(node.provision_state) && !state.includes('failed'))
          end(() => reject(new Error(`${name} was to become ${state}: ${story()}`)))
      }
      const timer = setTimeout(
        () => end(() => reject(new Error(`${name} never became ${state}: ${story()}`))),
        REAL_PEER_TIMEOUT,
      )
      watchers.add(look)
    })
  }
  return self
}

/** A node that is ready to be deployed. */
export async function availableNode(
  ironic: RealIronic,
  name: string,
  fields: Record<string, unknown> = {},
): Promise<RealNode> {
  const node = await realNode(ironic, name, { automated_clean: false, ...fields })
  await node.provision('manage')
  await node.settled('manageable')
  await node.provision('provide')
  await node.settled('available')
  return node
}

/** Where nothing goes on by itself, and where a watched node should only come on purpose. */
const ENDS = /failed$|^error$/

const atRest = (node: ApiNode): boolean => node.reservation === null && node.target_power_state === null

/** Sees what is exchanged and run, and lets programs fail. */
function witness(seen: Seen[], ran: Ran[], { failing, before }: Pick<RealNode, 'failing' | 'before'>): Probe {
  const probe = new Probe()
  probe.attach(async (point, next) => {
    if (point.kind === 'command') {
      const argv = point['argv'] as string[]
      ran.push({ argv })
      const program = argv[0]!.split('/').at(-1)!
      await before.get(program)?.()
      const failure = failing.get(program)
      if (failure) return failure as never
      return next()
    }
    if (!isExchange(point) || point.to === 'images') return next()
    const { from, to, method, target, request } = point
    const exchange: Seen = {
      from: from as Seen['from'],
      to,
      method,
      target,
      status: 0,
      answer: null,
      headers: request.headers,
      request: parsed(request.body),
    }
    seen.push(exchange)
    const result = await next()
    const { status, body } = result as WireResponse
    Object.assign(exchange, { status, answer: parsed(body) })
    return result
  })
  return probe
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined || text === '' ? null : (JSON.parse(text) as unknown)
  } catch {
    return text
  }
}
