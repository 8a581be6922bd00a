import {
  AgentApiError,
  AgentConnectionFailed,
  AgentInProgress,
  STEP_INTERFACES,
  agentClient,
  type AdvertisedStep,
  type AgentClient,
  type AgentPeer,
  type CommandResult,
  type GetStepsResult,
  type JsonObject,
  type NodeRecord,
  type PortRecord,
  type RequestedStep,
  type StepKind,
  type Transport,
} from '../../wire/index.js'
import type { Clock } from '../../runtime/index.js'
import { agentNode, agentPorts } from './agent-view.js'
import { commandError, echoes } from './agent-progress.js'
import type { CachedSteps, EffectValues, FailureReason } from './effects.js'
import type { Policy } from './policy.js'

/** A node and its ports as they are when an effect runs. */
export interface Subject {
  node: Readonly<NodeRecord>
  ports: readonly PortRecord[]
}

/** The effects that talk to an agent. */
export class AgentWork {
  readonly #client: AgentClient

  constructor(transport: Transport, clock: Clock, policy: Policy) {
    const { agentCommandTimeout: timeout, agentCommandAttempts: attempts } = policy
    this.#client = agentClient({ transport, clock, timeout, attempts })
  }

  async steps({ node, ports }: Subject, of: StepKind, signal: AbortSignal): Promise<EffectValues['agent-steps']> {
    const command = `${of}.get_${of}_steps`
    const params = { node: agentNode(node, { configdrive: false }), ports: agentPorts(ports) }
    const answer = await this.#client.execute(peer(node), command, params, { wait: true, signal })
    if (answer.command_status === 'FAILED')
      throw new AgentApiError(`Agent failed to give its ${of} steps: ${commandError(answer)}`)
    return readSteps(of, answer)
  }

  async commands({ node }: Subject, signal: AbortSignal): Promise<EffectValues['agent-commands']> {
    const commands = await this.#client.commands(peer(node), signal)
    return { names: commands.map((command) => command.command_name), last: commands.at(-1) ?? null }
  }

  /**
   * @param again the step may have been sent before: the agent's list is read first, so that no step runs twice
   */
  async step(
    { node, ports }: Subject,
    of: StepKind,
    step: RequestedStep,
    again: boolean,
    signal: AbortSignal,
  ): Promise<CommandResult> {
    if (again) {
      const last = (await this.#client.commands(peer(node), signal)).at(-1)
      const sent =
        last?.command_name === `execute_${of}_step` && (last.command_status === 'RUNNING' || echoes(of, step, last))
      if (last && sent) return last
    }
    const params = {
      step,
      node: agentNode(node, { configdrive: of === 'deploy' }),
      ports: agentPorts(ports),
      [`${of}_version`]: node.driver_internal_info.hardware_manager_version ?? null,
    }
    return this.#client.execute(peer(node), `${of}.execute_${of}_step`, params, { signal })
  }

  async powerOff({ node }: Subject, signal: AbortSignal): Promise<null> {
    await this.#client.execute(peer(node), 'standby.power_off', {}, { signal })
    return null
  }

  /** Nothing is kept of the logs; asking for them is what an agent sees of a real conductor. */
  async logs({ node }: Subject, signal: AbortSignal): Promise<null> {
    await this.#client.execute(peer(node), 'log.collect_system_logs', {}, { wait: true, signal })
    return null
  }
}

export function agentFailure(error: unknown): FailureReason | undefined {
  if (error instanceof AgentInProgress) return 'agent busy'
  if (error instanceof AgentConnectionFailed) return 'agent unreachable'
  if (error instanceof AgentApiError) return 'agent error'
  return undefined
}

function peer(node: Readonly<NodeRecord>): AgentPeer {
  const { agent_url, agent_secret_token, agent_verify_ca } = node.driver_internal_info
  if (typeof agent_url !== 'string')
    throw new AgentConnectionFailed(
      `Connection to agent failed: the agent of node ${node.uuid} has not reported where it is`,
    )
  return {
    url: agent_url,
    token: typeof agent_secret_token === 'string' ? agent_secret_token : undefined,
    ...(typeof agent_verify_ca === 'string' ? { verifyCa: agent_verify_ca } : {}),
    node: node.uuid,
  }
}

/** Steps by interface instead of by manager; every clean step of an agent needs its ramdisk. */
function readSteps(of: StepKind, { command_result }: CommandResult): EffectValues['agent-steps'] {
  const result = command_result as Partial<GetStepsResult<StepKind>> | null
  const managers = result?.[`${of}_steps`]
  const versions = result?.hardware_manager_version
  if (!managers || !versions)
    throw new AgentApiError(
      `The agent's answer to get_${of}_steps lacks ${managers ? 'hardware_manager_version' : `${of}_steps`}`,
    )
  const steps: CachedSteps = {}
  for (const step of Object.values(managers).flat() as (AdvertisedStep & JsonObject)[]) {
    if (typeof step.step !== 'string' || !STEP_INTERFACES.includes(step.interface) || typeof step.priority !== 'number')
      throw new AgentApiError(
        `The agent's answer to get_${of}_steps has a step without interface, step or priority: ${JSON.stringify(step)}`,
      )
    const kept = of === 'clean' ? { ...step, requires_ramdisk: true } : step
    ;(steps[step.interface] ??= []).push(kept)
  }
  return { steps, versions }
}
