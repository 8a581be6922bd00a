import type { Clock, Logger, Probe } from '../../../base/runtime/index.js'
import { defined, errorChain, onAbort, seconds } from '../../../base/runtime/index.js'
import type { JsonObject, NodeRecord, PowerState, Transport } from '../../../base/wire/index.js'
import type { Bmc, Bmcs } from '../../drivers/bmc.js'
import { containerRequest } from '../containers/detect-bootc.js'
import type { FindImage } from './find-images.js'
import { bmcErrorText, bmcWaits } from '../../drivers/bmc-error-text.js'
import type { BmcHardware, HardwareReport } from '../../drivers/bmc-hardware.js'
import { readsModes } from '../../drivers/management.js'
import { rebootsByAgent, rememberedPower, remembersPower } from '../../drivers/remembered-power.js'
import type { Records } from '../../store/record-store.js'
import type { EffectBody, EffectKind, EffectValues, InspectionFacts, EffectOutcome, PowerTarget } from './effects.js'
import { AgentWork, agentFailure, type AgentSubject } from '../agents/perform-agent.js'
import { callApi } from './api-call.js'
import { changeHardware, readReport } from '../hardware/perform-hardware.js'
import type { SeenPower } from './conductor-events.js'
import type { ConductorConf } from './conductor-conf.js'

/** Probe point around an effect of the conductor. */
interface EffectPoint {
  readonly kind: 'conductor-effect'
  /** Uuid of the node. */
  readonly node: string
  readonly effect: EffectKind
}

export interface EffectRunnerOptions {
  bmcs: Bmcs
  agents: Transport
  clock: Clock
  probe: Probe
  conf: ConductorConf
  logger: Logger
  records: () => Records
  inventory: (node: string) => Promise<{ inventory: JsonObject } | undefined>
  findImage: FindImage
  /** Runs a step on the children of a node, one after the other; rejects at the first failure. */
  runStepOnChildNodes: (parent: Readonly<NodeRecord>, step: JsonObject, signal: AbortSignal) => Promise<void>
}

/** One run of an effect. */
interface EffectRun<K extends EffectKind> {
  readonly subject: AgentSubject
  readonly effect: Extract<EffectBody, { kind: K }>
  /** It may have run before, in a process that died. */
  readonly again: boolean
  readonly signal: AbortSignal
}

/** A run whose calls of a BMC are tried again. */
type BmcAttempt = Pick<EffectRun<EffectKind>, 'subject' | 'signal'>

type EffectPerformers = {
  readonly [K in EffectKind]: (runner: EffectRunner, run: EffectRun<K>) => Promise<EffectValues[K]>
}

/** Runs the effects of the conductor: calls of BMCs, agents and HTTP servers. */
export class EffectRunner {
  readonly #options: EffectRunnerOptions
  readonly #agent: AgentWork

  constructor(options: EffectRunnerOptions) {
    this.#options = options
    this.#agent = new AgentWork(options.agents, options.clock, options.conf)
  }

  /**
   * Runs one effect; a failure is an outcome too.
   *
   * @param again it may have run before, in a process that died
   */
  async perform(
    subject: AgentSubject,
    effect: EffectBody,
    again: boolean,
    signal: AbortSignal,
  ): Promise<EffectOutcome> {
    const point: EffectPoint = { kind: 'conductor-effect', node: subject.node.uuid, effect: effect.kind }
    try {
      const value = await this.#options.probe.around(point, () => this.#run({ subject, effect, again, signal }))
      return { ok: true, kind: effect.kind, value } as EffectOutcome
    } catch (error) {
      signal.throwIfAborted()
      const agent = agentFailure(error)
      // The agent's sentence is complete; its cause concerns programmers only.
      if (agent) return { ok: false, kind: effect.kind, reason: agent, error: (error as Error).message }
      const reason = BMC_EFFECTS.includes(effect.kind) ? 'bmc' : 'other'
      const message = reason === 'bmc' ? bmcErrorText(subject.node, error) : errorChain(error).join(': ')
      return { ok: false, kind: effect.kind, reason, error: message }
    }
  }

  /** Reads the machine's power for the power sync; null for a node without a machine. */
  async seePower(subject: AgentSubject): Promise<SeenPower | null> {
    if (remembersPower(subject.node, this.#options.conf)) return null
    try {
      const power = await (await this.#options.bmcs(subject.node, subject.ports)).power()
      if (power !== 'error') return { power }
      return { power, error: 'Power driver returned ERROR state while trying to sync power state.' }
    } catch (error) {
      return { power: null, error: bmcErrorText(subject.node, error) }
    }
  }

  /** Reads the boot mode and secure boot for the power sync; null when the BMC does not report them. */
  async seeModes(subject: AgentSubject): Promise<HardwareReport | null> {
    if (!readsModes(subject.node)) return null
    return readReport(await this.#hardware(subject).catch(() => undefined), this.#options.logger)
  }

  async #facts({ node }: AgentSubject, addresses: readonly string[]): Promise<InspectionFacts> {
    const records = this.#options.records()
    const before = await this.#options.inventory(node.uuid)
    return {
      taken: addresses.filter((address) => records.portsByAddress.has(address)),
      rules: [...records.resources('inspection_rule').byUuid.values()],
      before: before?.inventory ?? null,
    }
  }

  /** Work of each effect. Every entry is async, so that an exception of a driver is a rejection like any other. */
  static readonly #PERFORMERS: EffectPerformers = {
    proceed: async () => null,
    refuse: async (_runner, { effect }) => {
      throw new Error(effect.error)
    },
    'hardware-report': async (runner, run) => {
      const hardware = await runner.#hardware(run.subject, run.signal).catch(() => undefined)
      return readReport(hardware, runner.#options.logger, (work) => runner.#patiently(run, work))
    },
    'bmc-change': async (runner, run) => {
      const hardware = await runner.#hardware(run.subject, run.signal)
      await runner.#patiently(run, () => changeHardware(hardware, run.effect.change, run.subject))
      return null
    },
    'inspection-facts': async (runner, { subject, effect }) => runner.#facts(subject, effect.addresses),
    'api-call': async (runner, { effect, signal }) => callApi(effect, runner.#options.clock, signal),
    'bmc-system': async (runner, run) => {
      const { subject } = run
      const hardware = await runner.#hardware(subject, run.signal)
      if (!hardware) return null
      const report = await runner.#patiently(run, () => hardware.system())
      const addresses = report.nics.map(({ mac }) => mac)
      const { taken, rules, before } = await runner.#facts(subject, addresses)
      return { report, taken, rules, before }
    },
    'read-power': async (runner, run) => {
      const bmc = await runner.#bmc(run)
      return runner.#patiently<PowerState | null>(run, () => bmc.power())
    },
    boot: async (runner, run) => {
      const bmc = await runner.#bmc(run)
      await runner.#patiently(run, () => bmc.setBoot(run.effect.source, run.effect.media))
      return null
    },
    power: async (runner, run) => {
      const { subject, effect, again, signal } = run
      if (rebootsByAgent(subject.node) && effect.target.endsWith('rebooting')) {
        await runner.#agent.reboot(subject, again, signal)
        return 'power on'
      }
      const bmc = await runner.#bmc(run)
      const { boot, media } = effect
      if (boot) await runner.#patiently(run, () => bmc.setBoot(boot, media))
      return runner.#setPower(run, bmc, effect.target, effect.timeout)
    },
    'await-power-off': async (runner, run) => runner.#awaitPowerOff(run),
    'agent-steps': async (runner, { subject, effect, signal }) => runner.#agent.steps(subject, effect.of, signal),
    'agent-commands': async (runner, { subject, signal }) => runner.#agent.commands(subject, signal),
    'agent-step': async (runner, { subject, effect, again, signal }) => {
      const { of, step, configdrive = false } = effect
      return runner.#agent.step(subject, of, step, { again, configdrive }, signal)
    },
    'agent-partitions': async (runner, { subject, signal }) => runner.#agent.partitions(subject, signal),
    'agent-bootloader': async (runner, { subject, effect, again, signal }) =>
      runner.#agent.bootloader(subject, effect, again, signal),
    'agent-sync': async (runner, { subject, signal }) => runner.#agent.sync(subject, signal),
    'agent-lockdown': async (runner, { subject, signal }) => runner.#agent.lockdown(subject, signal),
    'agent-power-off': async (runner, { subject, signal }) => runner.#agent.powerOff(subject, signal),
    'agent-logs': async (runner, { subject, signal }) => runner.#agent.logs(subject, signal),
    'agent-rescue': async (runner, { subject, signal }) => runner.#agent.rescue(subject, signal),
    'find-image': async (runner, { subject, effect, signal }) => {
      const { url, digest, checksum } = effect
      const node = subject.node.uuid
      const container = containerRequest(subject.node)
      return runner.#options.findImage(url, { digest, node, signal, ...defined({ checksum, container }) })
    },
    'child-step': async (runner, { subject, effect, signal }) => {
      await runner.#options.runStepOnChildNodes(subject.node, effect.step, signal)
      return null
    },
    pause: async (runner, { effect, signal }) => {
      await runner.#options.clock.sleep(effect.ms, { signal })
      return null
    },
  }

  #run(run: EffectRun<EffectKind>): Promise<EffectValues[EffectKind]> {
    // The compiler does not follow that the entry of an effect's kind takes that effect.
    return EffectRunner.#PERFORMERS[run.effect.kind](this, run as never)
  }

  /** Hardware calls of the BMC; undefined for a node without a machine. */
  async #hardware({ node, ports }: AgentSubject, signal?: AbortSignal): Promise<BmcHardware | undefined> {
    if (remembersPower(node, this.#options.conf)) return undefined
    return (await this.#options.bmcs(node, ports, signal)).hardware
  }

  /** Hardware calls for the API. */
  hardware(subject: AgentSubject): Promise<BmcHardware | undefined> {
    return this.#hardware(subject)
  }

  #bmc({ subject: { node, ports }, signal }: BmcAttempt): Promise<Bmc | RememberedBmc> {
    if (remembersPower(node, this.#options.conf)) return Promise.resolve(rememberedPower(node))
    return this.#options.bmcs(node, ports, signal)
  }

  /** Calls a BMC, as often as Ironic does while the call fails. */
  async #patiently<T>({ subject, signal }: BmcAttempt, work: () => Promise<T>): Promise<T> {
    const { clock, conf } = this.#options
    for (let tried = 0; ; tried++)
      try {
        return await work()
      } catch (error) {
        const wait = bmcWaits(subject.node, error, conf)[tried]
        if (wait === undefined) throw error
        await clock.sleep(wait, { signal })
      }
  }

  /** Sets the power, unless the machine has the wanted state already. */
  async #setPower(
    attempt: BmcAttempt,
    bmc: Bmc | RememberedBmc,
    target: PowerTarget,
    timeout?: number,
  ): Promise<PowerState> {
    const { subject, signal } = attempt
    const { powerStateChangeTimeout, softPowerOffTimeout } = this.#options.conf
    const limit = timeout ?? (target.startsWith('soft') ? softPowerOffTimeout : powerStateChangeTimeout)
    const goal = target === 'power off' || target === 'soft power off' ? 'power off' : 'power on'
    const skipped = target === 'soft power off' ? 'power off' : target
    const power = () => this.#patiently<PowerState | null>(attempt, () => bmc.power())
    if ((skipped === 'power on' || skipped === 'power off') && (await power()) === skipped) return skipped
    await this.#patiently(attempt, () =>
      this.#within(limit, goal, (ended) => this.#reach(subject, bmc, { target, goal }, ended), signal),
    )
    return goal
  }

  /** Sets the power and looks until the machine has it, since a BMC may confirm what it does not do. */
  async #reach(
    { node }: AgentSubject,
    bmc: Bmc | RememberedBmc,
    { target, goal }: { target: PowerTarget; goal: PowerState },
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, conf } = this.#options
    await bmc.setPower(target)
    if (remembersPower(node, conf)) return
    while ((await bmc.power()) !== goal) await clock.sleep(POWER_POLL_INTERVAL, { signal })
  }

  /** Ends the work after a limit, by the signal that it gets. */
  async #within(
    limit: number,
    goal: string,
    start: (ended: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    if (limit <= 0) return start(signal)
    const done = new AbortController()
    using _stopped = onAbort(signal, (reason) => done.abort(reason))
    const late = this.#options.clock.sleep(limit, { signal: done.signal }).then(() => {
      throw new Error(`Failed to set node power state to ${goal}.`)
    })
    const work = start(done.signal)
    try {
      await Promise.race([work, late])
    } finally {
      done.abort(EFFECT_DONE)
      for (const ended of [late, work]) ended.catch(() => {})
    }
  }

  /**
   * Polls the power, then powers off by the BMC, as ironic drivers/modules/agent_base.py tear_down_agent does. The power of
   * a node without a machine cannot change by itself.
   */
  async #awaitPowerOff(attempt: BmcAttempt): Promise<PowerState> {
    const { subject, signal } = attempt
    const { clock, conf } = this.#options
    const bmc = await this.#bmc(attempt)
    if (!remembersPower(subject.node, conf))
      for (let poll = 1; poll <= conf.agentPowerOffPolls; poll++) {
        const power = await this.#patiently<PowerState | null>(attempt, () => bmc.power())
        if (power === 'power off') return 'power off'
        await clock.sleep(conf.agentPowerOffInterval, { signal })
      }
    return this.#setPower(attempt, bmc, 'power off')
  }
}

/** Wait between looks at a machine whose power changes (ironic 39.0.0 conductor/utils.py node_wait_for_power_state). */
const POWER_POLL_INTERVAL = seconds(1)

/** A shared abort reason, since creating an exception with a stack for each effect is slow. */
const EFFECT_DONE = new Error('done')

const BMC_EFFECTS: readonly EffectKind[] = ['read-power', 'power', 'boot', 'await-power-off', 'bmc-change']

type RememberedBmc = ReturnType<typeof rememberedPower>
