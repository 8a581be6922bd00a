import { errorChain, UserError, type Clock, type Logger, type Random } from '../../runtime/index.js'
import { Unexpected } from '../calls.js'
import type { HostState } from '../host-state.js'
import type { Host } from '../host.js'
import type { BareMetalOperator } from '../operator.js'
import type { Outcome } from '../requests.js'
import type { WantedHost } from '../wanted-hosts.js'
import { detachment, inspectionRequest, isPaused, rebootRequest } from './annotations.js'

/** The `status` of a host after a pass. */
export interface HostReport {
  /** `NAMESPACE/NAME`. */
  name: string
  /** Null once the host is deleted. */
  state: HostState | null
  error: string | null
  isDetached: boolean
}

export interface HostControllerParts {
  operator: BareMetalOperator
  clock: Clock
  random: Random
  logger: Logger
  /** Ends the loop. */
  signal: AbortSignal
  onChange: (report: HostReport) => void
}

/** A pass without an outcome: the state has changed, and the next pass follows at once. */
const NEXT = 'next state'
type Pass = Outcome | typeof NEXT
type Wait = { again: number }

const MINUTE = 60_000
/** How often the power of a host that has nothing else to do is looked at. */
const STEADY: Wait = { again: MINUTE }
/** How often a detached host is looked at. */
const DETACHED: Wait = { again: 10 * MINUTE }
/** Failed deployments in a row after which none is tried until the image changes (`-max-provisioning-retries`). */
const MOST_DEPLOYMENTS = 5
/** Failures after which a host that is deleted goes without being deprovisioned or powered off. */
const MOST_FAILURES_OF_DELETED = 3

/**
 * BareMetal Operator's controller of one BareMetalHost: it compares the spec with the node, again and again, and takes
 * the host from state to state (host_state_machine.go of baremetal-operator 02aa505). Its status is in memory; of a host
 * that a process before it deployed, the node tells.
 */
export class HostController {
  readonly #parts: HostControllerParts
  #wanted: WantedHost & { host: Host }
  #isDeleted = false
  #state: HostState = 'registering'
  #error: string | null = null
  /** Failures in a row; each doubles the time until the next try. */
  #failures = 0
  /** Errors of requests in a row, which come sooner again. */
  #refusals = 0
  #failedDeployments = 0
  /** The image and the method that are installed, or are being installed. */
  #instance: { image?: string; method?: string } = {}
  #lastImage: string | undefined
  #isDetached = false
  /** Annotations that were obeyed: BareMetal Operator removes them, and the file is its owner's. */
  #rebooted: string | undefined
  #inspected: string | undefined
  #warned: string | undefined
  #wake = new AbortController()

  constructor(wanted: WantedHost & { host: Host }, parts: HostControllerParts) {
    this.#wanted = wanted
    this.#parts = parts
  }

  /** Takes a changed spec; the wait for the next pass ends. */
  change(wanted: WantedHost & { host: Host }): void {
    this.#wanted = wanted
    this.#wake.abort()
  }

  /** Deletes the host: {@link run} ends when its node is gone. */
  delete(): void {
    this.#isDeleted = true
    this.#wake.abort()
  }

  /** Reconciles until the host is deleted, or the signal is aborted. */
  async run(): Promise<void> {
    const { clock, signal } = this.#parts
    this.#report()
    while (!signal.aborted) {
      const pass = await this.#guarded()
      if (pass === 'done') {
        this.#parts.operator.forget(this.#host)
        return this.#report(true)
      }
      if (pass === NEXT) this.#report()
      else {
        this.#wake = new AbortController()
        const woken = AbortSignal.any([signal, this.#wake.signal])
        await clock.sleep(pass.again, { signal: woken }).catch(() => {})
      }
    }
  }

  get #host(): Host {
    return this.#wanted.host
  }

  #report(isGone = false): void {
    const { name } = this.#wanted
    this.#parts.onChange({ name, state: isGone ? null : this.#state, error: this.#error, isDetached: this.#isDetached })
  }

  /** A pass, with its failures turned into the time until the next. */
  async #guarded(): Promise<'done' | typeof NEXT | Wait> {
    const status = this.#parts.operator.statusOf(this.#host)
    status.isRetry = this.#error !== null
    try {
      const pass = await this.#pass()
      this.#refusals = 0
      this.#warned = undefined
      if (typeof pass === 'object' && 'error' in pass) return this.#failed(pass.error)
      if (this.#error !== null) {
        this.#error = null
        if (pass !== NEXT) this.#report()
      }
      return pass
    } catch (error) {
      if (this.#parts.signal.aborted) return STEADY
      // A locked node.
      if (error instanceof Unexpected && error.status === 409) return { again: 3_000 }
      if (error instanceof UserError && error.code === 'ironic-not-ready') return { again: MINUTE / 2 }
      this.#warn(error)
      // The rate limiter of controller-runtime.
      return { again: Math.min(5 * 2 ** this.#refusals++, 1000_000) }
    }
  }

  /** BareMetal Operator only logs such an error; the host shows none. */
  #warn(error: unknown): void {
    const { logger } = this.#parts
    const text = errorChain(error).join(': ')
    if (text !== this.#warned) logger('warn', `host ${this.#wanted.name}, ${this.#state}: ${text}`)
    this.#warned = text
  }

  /** calculateBackoff of action_result.go: 2^n minutes, less up to the half. */
  #failed(error: string): Wait {
    const isNew = this.#error !== error
    this.#error = error
    this.#failures++
    if (isNew) this.#report()
    const minutes = 2 ** Math.min(this.#failures, 9)
    return { again: minutes * (1 - this.#parts.random.next() / 2) * MINUTE }
  }

  #to(state: HostState): typeof NEXT {
    this.#state = state
    return NEXT
  }

  async #pass(): Promise<Pass> {
    if (isPaused(this.#wanted)) return DETACHED
    await this.#parts.operator.calls.ready()
    if (this.#isDeleted && this.#beginsDelete()) return NEXT
    return (await this.#detached()) ?? this.#reconcile()
  }

  /** checkInitiateDelete: the state from which a deleted host goes on. */
  #beginsDelete(): boolean {
    const next = (state: HostState) => {
      this.#failures = 0
      this.#state = state
      return true
    }
    switch (this.#state) {
      case 'deprovisioning':
      case 'powering off before delete':
        return this.#failures > MOST_FAILURES_OF_DELETED ? next('deleting') : false
      case 'deleting':
        return false
      case 'registering':
        return next('deleting')
      case 'provisioning':
      case 'provisioned':
        return next(this.#isDetached ? 'deleting' : 'deprovisioning')
      default:
        return next(this.#isDetached || this.#host.disablePowerOff ? 'deleting' : 'powering off before delete')
    }
  }

  /** checkDetachedHost: a host with the annotation has no node, and keeps its state. */
  async #detached(): Promise<Pass | undefined> {
    const wanted = detachment(this.#wanted)
    const isSteady = ['provisioned', 'externally provisioned', 'available'].includes(this.#state)
    if (wanted === undefined || this.#isDeleted || !(isSteady || wanted.isForced)) {
      if (this.#isDetached) {
        this.#isDetached = false
        this.#report()
      }
      return undefined
    }
    if (this.#isDetached) return DETACHED
    const outcome = await this.#parts.operator.passOfDelete(this.#host)
    if (outcome !== 'done') return outcome
    this.#isDetached = true
    this.#report()
    return DETACHED
  }

  async #reconcile(): Promise<Pass> {
    const { operator } = this.#parts
    const { isExternal, isInspected } = this.#wanted
    const done = async (action: Parameters<BareMetalOperator['pass']>[1], next: HostState): Promise<Pass> => {
      const outcome = await operator.pass(this.#host, action)
      if (outcome !== 'done') return outcome
      this.#failures = 0
      return this.#to(next)
    }
    switch (this.#state) {
      case 'registering':
        return this.#register(isExternal ? 'externally provisioned' : isInspected ? 'inspecting' : 'preparing')
      case 'inspecting':
        this.#inspected = inspectionRequest(this.#wanted)
        return done('inspect', 'preparing')
      case 'preparing':
        return done('prepare', 'available')
      case 'available':
        return this.#available()
      case 'externally provisioned':
        if (isExternal) return this.#steady()
        this.#instance = instanceOf(this.#host)
        return this.#to('provisioned')
      case 'provisioning':
        return this.#provision()
      case 'provisioned':
        return this.#isCancelled() ? this.#to('deprovisioning') : this.#steady()
      case 'deprovisioning':
        this.#instance = {}
        return done('deprovision', this.#isDeleted ? 'powering off before delete' : 'available')
      case 'powering off before delete':
        return done('power off', 'deleting')
      case 'deleting':
        return operator.passOfDelete(this.#host)
    }
  }

  /** A node that is active already was deployed by a process before this one. */
  async #register(next: HostState): Promise<Pass> {
    const { operator } = this.#parts
    const outcome = await operator.pass(this.#host, 'register')
    if (outcome !== 'done') return outcome
    this.#failures = 0
    const isActive = (await operator.provisionState(this.#host)) === 'active'
    if (!isActive || next === 'externally provisioned') return this.#to(next)
    this.#instance = instanceOf(this.#host)
    return this.#to('provisioned')
  }

  async #available(): Promise<Pass> {
    const { operator } = this.#parts
    if (this.#wanted.isExternal) return this.#to('externally provisioned')
    const inspection = inspectionRequest(this.#wanted)
    if (inspection !== undefined && inspection !== this.#inspected) {
      operator.statusOf(this.#host).isInspectionDue = true
      return this.#to('inspecting')
    }
    this.#inspected = inspection
    if (!operator.isPrepared(this.#host)) return this.#to('preparing')
    const wanted = instanceOf(this.#host)
    if (!this.#wanted.isOnline || (wanted.image === undefined && wanted.method === undefined)) {
      if (wanted.image === undefined) this.#failedDeployments = 0
      return this.#power()
    }
    if (wanted.image !== this.#lastImage) this.#failedDeployments = 0
    if (this.#failedDeployments >= MOST_DEPLOYMENTS)
      return {
        error:
          `provisioning failed ${this.#failedDeployments} times, retry limit (${MOST_DEPLOYMENTS}) reached; ` +
          'change image or reset provisioningFailCount to retry',
      }
    return this.#to('provisioning')
  }

  async #provision(): Promise<Pass> {
    if (this.#error !== null || this.#isCancelled()) {
      if (this.#error !== null) this.#failedDeployments++
      return this.#to('deprovisioning')
    }
    this.#instance = instanceOf(this.#host)
    this.#lastImage = this.#instance.image
    const outcome = await this.#parts.operator.pass(this.#host, 'provision')
    if (outcome !== 'done') return outcome
    this.#failures = this.#failedDeployments = 0
    return this.#to('provisioned')
  }

  /** provisioningCancelled: whether the spec asks for something else than is installed. */
  #isCancelled(): boolean {
    const wanted = instanceOf(this.#host)
    const { image, method } = this.#instance
    if (wanted.method !== undefined)
      return (method !== undefined && method !== wanted.method) || (image !== undefined && image !== wanted.image)
    return method !== undefined || wanted.image === undefined || (image !== undefined && image !== wanted.image)
  }

  /** Adopts a node that was made anew, then sees to the power. */
  async #steady(): Promise<Pass> {
    const adopted = await this.#parts.operator.pass(this.#host, 'adopt')
    return adopted === 'done' ? this.#power() : adopted
  }

  /** The power follows `online`; a reboot annotation holds it off, or turns it off once. */
  async #power(): Promise<Pass> {
    const isProvisioned = this.#state !== 'available'
    const request = isProvisioned ? rebootRequest(this.#wanted) : undefined
    const isReboot = request !== undefined && (request.isHeld || request.text !== this.#rebooted)
    const target = this.#wanted.isOnline && !isReboot ? 'power on' : 'power off'
    const outcome = await this.#parts.operator.pass(this.#host, target)
    if (outcome !== 'done') return outcome
    this.#failures = 0
    if (request === undefined) this.#rebooted = undefined
    if (!isReboot || request.isHeld) return STEADY
    this.#rebooted = request.text
    return { again: 0 }
  }
}

function instanceOf({ image, customDeploy }: Host): { image?: string; method?: string } {
  return { ...(image ? { image: image.url } : {}), ...(customDeploy ? { method: customDeploy.method } : {}) }
}
