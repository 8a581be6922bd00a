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
} from '../../../base/wire/index.js'
import { defined, type Clock } from '../../../base/runtime/index.js'
import { configDriveImage } from '../../drivers/config-drive-image.js'
import { configuredSecret } from '../containers/pull-account.js'
import { agentNode, agentPorts } from './agent-view.js'
import { commandError, echoesStep } from '../steps/agent-progress.js'
import type { CachedSteps, EffectValues, FailureReason } from '../core/effects.js'
import type { ConductorConf } from '../core/conductor-conf.js'

/** A node and its ports at the start of an effect. */
export interface AgentSubject {
  node: Readonly<NodeRecord>
  ports: readonly PortRecord[]
}

/** Runs the effects that call an agent. */
export class AgentWork {
  readonly #client: AgentClient
  readonly #clock: Clock
  readonly #conf: ConductorConf

  constructor(transport: Transport, clock: Clock, conf: ConductorConf) {
    this.#clock = clock
    this.#conf = conf
    const { agentCommandTimeout: timeout, agentCommandAttempts: attempts } = conf
    this.#client = agentClient({ transport, clock, timeout, attempts })
  }

  async steps({ node, ports }: AgentSubject, of: StepKind, signal: AbortSignal): Promise<EffectValues['agent-steps']> {
    const command = `${of}.get_${of}_steps`
    const params = { node: agentNode(node, { configdrive: false }), ports: agentPorts(ports) }
    const answer = await this.#client.execute(peer(node), command, params, { wait: true, signal })
    if (answer.command_status === 'FAILED')
      throw new AgentApiError(`Agent failed to give its ${of} steps: ${commandError(answer)}`)
    return readSteps(of, answer)
  }

  async commands({ node }: AgentSubject, signal: AbortSignal): Promise<EffectValues['agent-commands']> {
    const commands = await this.#client.commands(peer(node), signal)
    return { names: commands.map((command) => command.command_name), last: commands.at(-1) ?? null }
  }

  /**
   * Sends a step.
   *
   * @param again it may have been sent before: the agent's command list is read first, so that no step runs twice
   */
  async step(
    { node, ports }: AgentSubject,
    of: StepKind,
    step: RequestedStep,
    { again, configdrive = false }: { again: boolean; configdrive?: boolean },
    signal: AbortSignal,
  ): Promise<CommandResult> {
    if (again) {
      const last = (await this.#client.commands(peer(node), signal)).at(-1)
      const sent =
        last?.command_name === `execute_${of}_step` && (last.command_status === 'RUNNING' || echoesStep(of, step, last))
      if (last && sent) return last
    }
    const params = {
      step: await this.#withPullSecret(configdrive ? withConfigDrive(step, node, this.#clock.now()) : step),
      node: agentNode(node, { configdrive: of === 'deploy' }),
      ports: agentPorts(ports),
      [`${of}_version`]: node.driver_internal_info.hardware_manager_version ?? null,
    }
    return this.#client.execute(peer(node), `${of}.execute_${of}_step`, params, { signal })
  }

  /**
   * The secret of `[oci]authentication_config` for a container without one of its own, in base64 once more (ironic 39.0.0
   * drivers/modules/agent.py BootcAgentDeploy).
   */
  async #withPullSecret(step: RequestedStep): Promise<RequestedStep> {
    const { image_source: source, oci_pull_secret: own } = step.args ?? {}
    if (own !== null || typeof source !== 'string' || !URL.canParse(source)) return step
    const { host } = new URL(source)
    const secret = await configuredSecret(this.#conf.ociAuthenticationFile, host, this.#clock)
    if (secret === undefined) return step
    return { ...step, args: { ...step.args, oci_pull_secret: Buffer.from(secret).toString('base64') } }
  }

  /** UUIDs of the partitions that the ramdisk wrote; empty for a whole-disk image. */
  async partitions({ node }: AgentSubject, signal: AbortSignal): Promise<JsonObject> {
    const options = { wait: true, signal }
    const { command_result } = await this.#client.execute(peer(node), 'standby.get_partition_uuids', {}, options)
    return (command_result ?? {}) as JsonObject
  }

  /** Installs the boot loader and polls the command to its end, as upstream does inside its step. */
  async bootloader(
    { node }: AgentSubject,
    { root, efi, bootMode }: { root: string | null; efi: string | null; bootMode: string },
    again: boolean,
    signal: AbortSignal,
  ): Promise<null> {
    const { agentCommandPolls: polls, agentCommandInterval: interval } = this.#conf
    const latest = async () =>
      (await this.#client.commands(peer(node), signal)).findLast((command) => command.command_name === BOOTLOADER)
    const params = { root_uuid: root, efi_system_part_uuid: efi, prep_boot_part_uuid: null, target_boot_mode: bootMode }
    if (!again || !(await latest())) await this.#client.execute(peer(node), `image.${BOOTLOADER}`, params, { signal })
    for (let poll = 1; ; poll++) {
      const command = await latest()
      if (command?.command_status === 'SUCCEEDED') return null
      if (command && command.command_status !== 'RUNNING') throw new AgentApiError(commandError(command))
      if (poll >= polls) throw new AgentApiError(`the agent has not finished ${BOOTLOADER} after ${polls} polls`)
      await this.#clock.sleep(interval, { signal })
    }
  }

  async sync({ node }: AgentSubject, signal: AbortSignal): Promise<null> {
    await this.#client.execute(peer(node), 'standby.sync', {}, { wait: true, signal })
    return null
  }

  async lockdown({ node }: AgentSubject, signal: AbortSignal): Promise<null> {
    await this.#client.execute(peer(node), 'system.lockdown', {}, { signal })
    return null
  }

  async powerOff({ node }: AgentSubject, signal: AbortSignal): Promise<null> {
    await this.#client.execute(peer(node), 'standby.power_off', {}, { signal })
    return null
  }

  /**
   * Reboots the machine by its agent (ironic drivers/modules/agent_power.py AgentPower). Without an agent it does nothing:
   * the operator boots the ramdisk.
   *
   * @param again it may have been requested before
   */
  async reboot({ node }: AgentSubject, again: boolean, signal: AbortSignal): Promise<void> {
    if (node.driver_internal_info.agent_url === undefined) return
    if (again && (await this.#client.commands(peer(node), signal)).at(-1)?.command_name === 'run_image') return
    await this.#client.execute(peer(node), 'standby.run_image', {}, { signal })
  }

  async rescue({ node }: AgentSubject, signal: AbortSignal): Promise<CommandResult> {
    const params = { rescue_password: node.instance_info.hashed_rescue_password, hashed: true }
    try {
      return await this.#client.execute(peer(node), FINALIZE_RESCUE, params, { signal })
    } catch (error) {
      // Old agents reject a hash.
      if (this.#conf.requireRescuePasswordHashed || !(error instanceof AgentApiError)) throw error
      const { rescue_password } = node.instance_info
      return this.#client.execute(peer(node), FINALIZE_RESCUE, { rescue_password }, { signal })
    }
  }

  /** Collects the agent's logs as a real conductor does, and drops them. */
  async logs({ node }: AgentSubject, signal: AbortSignal): Promise<null> {
    await this.#client.execute(peer(node), 'log.collect_system_logs', {}, { wait: true, signal })
    return null
  }
}

const FINALIZE_RESCUE = 'rescue.finalize_rescue'
const BOOTLOADER = 'install_bootloader'

/** Adds the node's config drive to the arguments and to `image_info`, as upstream does. */
function withConfigDrive(step: RequestedStep, node: Readonly<NodeRecord>, at: number): RequestedStep {
  const configdrive = configDriveImage(node.instance_info.configdrive, at)
  const { image_info, ...args } = (step.args ?? {}) as { image_info?: JsonObject }
  if (image_info === undefined) return { ...step, args: { ...args, configdrive } }
  return {
    ...step,
    args: { image_info: { ...image_info, ...defined({ configdrive: configdrive || undefined }) }, configdrive },
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
    ...defined({ verifyCa: typeof agent_verify_ca === 'string' ? agent_verify_ca : undefined }),
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
    const cached = of === 'clean' ? { ...step, requires_ramdisk: true } : step
    ;(steps[step.interface] ??= []).push(cached)
  }
  return { steps, versions }
}
