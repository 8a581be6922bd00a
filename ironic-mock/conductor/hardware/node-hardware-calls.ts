import {
  IronicError,
  ironicErrors,
  type BiosSettingRecord,
  type FirmwareComponentRecord,
  type JsonObject,
  type MediaDevice,
  type NodeRecord,
} from '../../../base/wire/index.js'
import { bmcErrorText } from '../../drivers/bmc-error-text.js'
import type { BmcHardware, BootMode, Indicators, VirtualMedium } from '../../drivers/bmc-hardware.js'
import type { ManagementCall, ShownVendorMethod } from '../../drivers/hardware-type.js'
import { fixedAnswers, managementProblem } from '../../drivers/management.js'
import { powerProblem, describeUnsupported } from '../../drivers/requirements.js'
import { vendorMethods } from '../../drivers/vendor.js'
import type { StoreView } from '../../store/open-store.js'
import type { Store } from '../../store/store.js'
import type { Dispatcher } from '../core/dispatcher.js'
import type { HardwareCalls, VendorCall } from './hardware-calls.js'
import type { HardwareRequest } from './hardware-request.js'
import type { AnsweredQuestions } from '../records/answered-questions.js'
import type { CheckServed } from '../records/check-served.js'
import { checkUnlocked, type Admin } from '../records/node-admin.js'
import type { AgentSubject } from '../agents/perform-agent.js'
import type { EffectRunner } from '../core/effect-runner.js'
import type { RetryWhileLocked } from '../core/retry-while-locked.js'
import { callVendor } from './vendor-calls.js'

/** Calls for the hardware of nodes: checks by the node's interfaces, then a question to its BMC or an event of the node. */
export class NodeHardwareCalls implements HardwareCalls {
  readonly #store: Store & StoreView
  readonly #dispatcher: Dispatcher
  readonly #effects: EffectRunner
  readonly #admin: Admin
  readonly #checkServed: CheckServed
  readonly #answered: AnsweredQuestions
  readonly #whileLocked: RetryWhileLocked

  constructor(
    store: Store & StoreView,
    dispatcher: Dispatcher,
    effects: EffectRunner,
    admin: Admin,
    { checkServed, answered }: { checkServed: CheckServed; answered: AnsweredQuestions },
    whileLocked: RetryWhileLocked,
  ) {
    this.#checkServed = checkServed
    this.#answered = answered
    this.#whileLocked = whileLocked
    this.#admin = admin
    this.#store = store
    this.#dispatcher = dispatcher
    this.#effects = effects
  }

  async setBootMode(uuid: string, mode: BootMode): Promise<void> {
    this.#checkServed(uuid)
    return this.#start(uuid, { do: 'boot mode', mode })
  }

  async setSecureBoot(uuid: string, on: boolean): Promise<void> {
    this.#checkServed(uuid)
    return this.#start(uuid, { do: 'secure boot', on })
  }

  async attachMedia(uuid: string, device: MediaDevice, url: string): Promise<void> {
    this.#checkServed(uuid, 400)
    return this.#start(uuid, { do: 'attach', device, url })
  }

  async detachMedia(uuid: string, devices: readonly MediaDevice[] | null): Promise<void> {
    this.#checkServed(uuid, 400)
    return this.#start(uuid, { do: 'detach', devices: devices && [...devices] })
  }

  async media(uuid: string): Promise<readonly VirtualMedium[]> {
    this.#checkServed(uuid, 400)
    return this.#ask(this.#managed(uuid, 'get_virtual_media'), (hardware) => hardware.media())
  }

  async injectNmi(uuid: string): Promise<void> {
    this.#checkServed(uuid)
    await this.#unlocked(uuid)
    const subject = this.#managed(uuid, 'inject_nmi')
    await this.#change(subject, (hardware) => hardware.change({ change: 'nmi' }))
  }

  async indicators(uuid: string): Promise<Indicators> {
    this.#checkServed(uuid)
    return this.#indicators(this.#managed(uuid, 'get_supported_indicators'))
  }

  async indicator(uuid: string, component: string, name: string): Promise<string> {
    this.#checkServed(uuid)
    await this.#unlocked(uuid)
    const subject = this.#managed(uuid, 'get_indicator_state')
    checkIndicator(await this.#indicators(subject), component, name)
    if (fixedAnswers(subject.node)?.indicators) return 'on'
    return this.#ask(subject, (hardware) => hardware.indicator(component, name))
  }

  async setIndicator(uuid: string, component: string, name: string, state: string): Promise<void> {
    this.#checkServed(uuid)
    await this.#unlocked(uuid)
    const subject = this.#managed(uuid, 'set_indicator_state')
    checkIndicator(await this.#indicators(subject), component, name)
    await this.#change(subject, (hardware) => hardware.change({ change: 'indicator', component, name, state }))
  }

  async setConsole(uuid: string, on: boolean): Promise<void> {
    this.#checkServed(uuid)
    const { node } = this.#subject(uuid)
    checkConsole(node)
    await this.#start(uuid, { do: 'console', on })
  }

  async console(uuid: string): Promise<JsonObject | null> {
    this.#checkServed(uuid)
    const { node } = this.#subject(uuid)
    if (!node.console_enabled) return null
    checkConsole(node)
    return {}
  }

  async vendorMethods(uuid: string): Promise<Readonly<Record<string, ShownVendorMethod>>> {
    const { node } = this.#subject(uuid)
    this.#answered.ask('vendor methods of nodes', node.driver, () => this.#checkServed(uuid))
    return vendorMethods(node)
  }

  async callVendor(uuid: string, call: VendorCall): Promise<{ isSync: boolean; value: unknown }> {
    this.#checkServed(uuid)
    return this.#whileLocked(() =>
      callVendor(this.#subject(uuid), call, {
        ask: (subject, question) => this.#ask(subject, question),
        start: (request) => this.#reserve(uuid, request),
        unlocked: checkUnlocked,
      }),
    )
  }

  async bios(uuid: string): Promise<BiosSettingRecord[]> {
    return this.#store.nodeList(this.#subject(uuid).node.uuid, 'bios')
  }

  async firmware(uuid: string): Promise<FirmwareComponentRecord[]> {
    return this.#store.nodeList(this.#subject(uuid).node.uuid, 'firmware')
  }

  #subject(uuid: string): AgentSubject {
    const subject = this.#dispatcher.subject(uuid)
    if (!subject) throw ironicErrors.nodeNotFound(uuid)
    return subject
  }

  /** @throws IronicError 400 when the management interface does not support the call, or has no BMC address */
  #managed(uuid: string, call: ManagementCall): AgentSubject {
    const subject = this.#subject(uuid)
    const problem = powerProblem(subject.node) ?? managementProblem(subject.node, call)
    if (problem !== undefined) throw new IronicError(400, problem)
    return subject
  }

  /** Asks the BMC at once. @throws IronicError 502 when there is none, or it fails */
  async #ask<T>(subject: AgentSubject, question: (hardware: BmcHardware) => Promise<T>): Promise<T> {
    try {
      const hardware = await this.#effects.hardware(subject)
      if (!hardware) throw new Error(`there is no BMC behind node ${subject.node.uuid}`)
      return await question(hardware)
    } catch (error) {
      if (error instanceof IronicError) throw error
      throw new IronicError(502, bmcErrorText(subject.node, error))
    }
  }

  /** Changes something of the machine at once. @throws IronicError 502 when there is no BMC, or it fails */
  #change<T>(subject: AgentSubject, work: (hardware: BmcHardware) => Promise<T>): Promise<T> {
    return this.#admin.whileReserved(subject.node.uuid, () => this.#ask(subject, work))
  }

  /** @throws IronicError 409 while the node is reserved, after some attempts */
  #unlocked(uuid: string): Promise<void> {
    return this.#whileLocked(async () => checkUnlocked(this.#subject(uuid).node))
  }

  #start(uuid: string, request: HardwareRequest): Promise<void> {
    return this.#whileLocked(() => this.#reserve(uuid, request))
  }

  /** Reserves the node for a change. */
  async #reserve(uuid: string, request: HardwareRequest): Promise<void> {
    await this.#dispatcher.dispatch(uuid, { kind: 'hardware', request })
  }

  async #indicators(subject: AgentSubject): Promise<Indicators> {
    return fixedAnswers(subject.node)?.indicators ?? this.#ask(subject, (hardware) => hardware.indicators())
  }
}

function checkIndicator(known: Indicators, component: string, name: string): void {
  if (!Object.hasOwn(known, component)) throw new IronicError(400, `Invalid component ${component} specified.`)
  if (!Object.hasOwn(known[component]!, name)) throw new IronicError(400, `Invalid indicator ${name} specified.`)
}

function checkConsole(node: Readonly<NodeRecord>): void {
  if (node.console_interface.startsWith('no-')) throw new IronicError(400, describeUnsupported(node, 'console'))
}
