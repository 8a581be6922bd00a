import { defined, seconds, UserError, withClockHeld, type Clock, type Random } from '../../../base/runtime/index.js'
import {
  callBmc,
  IpmiCommandError,
  IpmiLoginRefused,
  IpmiSilence,
  type IpmiCommandCall,
} from '../../../bmc/ipmi/index.js'
import {
  BmcError,
  bootModeOf,
  type Bmc,
  type BmcChange,
  type BmcHardware,
  type BmcRequest,
  type BootMedia,
  type BootSource,
} from '../../../ironic-mock/index.js'
import { publishBootScript, type ScriptedNode } from '../../images/boot-script.js'
import { bootDeviceOf, probedBmcCall, throughProbe, type BmcCaller } from '../probed-bmc.js'
import { ipmiAccessOf } from './ipmi-access.js'

export interface IpmiBmcOptions extends BmcCaller, ScriptedNode {
  readonly clock: Clock
  readonly random: Random
  /** `[conductor]power_state_change_timeout`, in milliseconds. */
  readonly powerTimeout: number
  /** Milliseconds of wall time that a BMC may be silent. */
  readonly answerTimeout: number
}

type PowerTarget = Parameters<Bmc['setPower']>[0]

const NET_FN = { chassis: 0x00, application: 0x06 } as const
const COMMAND = {
  chassisStatus: 0x01,
  chassisControl: 0x02,
  setBootOptions: 0x08,
  coldReset: 0x02,
  warmReset: 0x03,
} as const
/** IPMI 2.0, table 28-4. */
const CONTROL = { off: 0, on: 1, reset: 3, diagnosticInterrupt: 4, softOff: 5 } as const
/** Selectors of the boot flags; IPMI 2.0, table 28-14. */
const SELECTOR = { pxe: 1, disk: 2, cdrom: 5 } as const
const POWER_LOOK_INTERVAL = seconds(1)

/** A machine elsewhere, which is reached over the network as Ironic's hardware type ipmi reaches one. */
export class IpmiBmc implements Bmc {
  readonly #options: IpmiBmcOptions
  readonly hardware: BmcHardware

  constructor(options: IpmiBmcOptions) {
    this.#options = options
    this.hardware = throughProbe(this.#hardware(), (request, work) => this.#call(request, work))
  }

  power(): ReturnType<Bmc['power']> {
    return this.#call({ call: 'read power' }, () => this.#ask(readPower))
  }

  setPower(target: PowerTarget): Promise<void> {
    return this.#call({ call: 'set power', target }, () => this.#switch(target))
  }

  async setBoot(source: BootSource, media?: BootMedia): Promise<void> {
    await this.#call({ call: 'set boot', target: bootDeviceOf(source) }, () => {
      const selector = selectorOf(source)
      if (selector === undefined || media?.insert !== undefined)
        throw refused(this.#options.record.uuid, 'has no virtual media')
      publishBootScript(this.#options, source)
      return this.#ask((command) => this.#setFlags(command, selector, source.kind === 'disk' || source.kind === 'live'))
    })
  }

  /** Sets the boot flags for the next boot, or all; they stay valid for longer than the minute of the standard. */
  async #setFlags(command: IpmiCommandCall, selector: number, isPersistent: boolean): Promise<void> {
    const { record } = this.#options
    if (!isFalse(record.driver_info.ipmi_disable_boot_timeout))
      await command(NET_FN.chassis, COMMAND.setBootOptions, [0x03, 0x08])
    const isEfi = bootModeOf(record) === 'uefi'
    const flags = 0x80 | (isPersistent ? 0x40 : 0) | (isEfi ? 0x20 : 0)
    await command(NET_FN.chassis, COMMAND.setBootOptions, [0x05, flags, selector << 2, 0, 0, 0])
  }

  async #switch(target: PowerTarget): Promise<void> {
    if (target === 'power on') return this.#control(CONTROL.on)
    if (target === 'power off') return this.#control(CONTROL.off)
    if (target === 'soft power off') return this.#control(CONTROL.softOff)
    if ((await this.#ask(readPower)) === 'power on') {
      if (this.#options.record.disable_power_off) return this.#control(CONTROL.reset)
      await this.#control(target === 'rebooting' ? CONTROL.off : CONTROL.softOff)
      await this.#untilOff()
    }
    await this.#control(CONTROL.on)
  }

  async #control(control: number): Promise<void> {
    await this.#ask((command) => command(NET_FN.chassis, COMMAND.chassisControl, [control]))
  }

  async #untilOff(): Promise<void> {
    const { clock, powerTimeout, signal } = this.#options
    const end = clock.now() + powerTimeout
    while ((await this.#ask(readPower)) !== 'power off') {
      if (clock.now() >= end) throw new UserError('bmc-refuses', 'Failed to set node power state to power off.')
      await clock.sleep(POWER_LOOK_INTERVAL, defined({ signal }))
    }
  }

  #hardware(): BmcHardware {
    const { uuid } = this.#options.record
    const unsupported = (): Promise<never> => Promise.reject(refused(uuid, 'has no such function'))
    return {
      report: unsupported,
      system: unsupported,
      change: (change) => this.#change(change),
      media: unsupported,
      indicators: unsupported,
      indicator: unsupported,
      subscribe: unsupported,
      unsubscribe: unsupported,
      subscriptions: unsupported,
    }
  }

  async #change(change: BmcChange): Promise<void> {
    if (change.change === 'nmi') return this.#control(CONTROL.diagnosticInterrupt)
    if (change.change === 'reset bmc') {
      const reset = change.warm ? COMMAND.warmReset : COMMAND.coldReset
      return void (await this.#ask((command) => command(NET_FN.application, reset)))
    }
    if (change.change !== 'raw') throw refused(this.#options.record.uuid, 'has no such function')
    const [netFn, command, ...data] = change.bytes.trim().split(/\s+/).map(Number)
    if (![netFn, command, ...data].every(isByte))
      throw new BmcError('refused', `the raw bytes ${JSON.stringify(change.bytes)} are no command`)
    await this.#ask((send) => send(netFn!, command!, data))
  }

  /** Opens a session for some commands, as ipmitool does for each. */
  async #ask<T>(work: (command: IpmiCommandCall) => Promise<T>): Promise<T> {
    const { clock, random, record, signal, answerTimeout: timeout } = this.#options
    const access = ipmiAccessOf(record)
    try {
      return await withClockHeld(clock, `IPMI to node ${record.uuid}`, () =>
        callBmc({ ...access, random, timeout, signal }, work),
      )
    } catch (error) {
      throw bmcErrorOf(error)
    }
  }

  #call<T>(request: BmcRequest, work: () => Promise<T>): Promise<T> {
    return probedBmcCall(this.#options, request, work)
  }
}

/** Power of the machine, in the chassis status. */
async function readPower(command: IpmiCommandCall): Promise<'power on' | 'power off'> {
  const [status] = await command(NET_FN.chassis, COMMAND.chassisStatus)
  if (status === undefined) throw new BmcError('incomplete', 'the BMC answered without the power state')
  return (status & 1) === 1 ? 'power on' : 'power off'
}

function selectorOf(source: BootSource): number | undefined {
  if (source.kind === 'disk') return SELECTOR.disk
  if (source.kind === 'cdrom') return SELECTOR.cdrom
  if (source.kind === 'iso' || (source.kind === 'live' && 'iso' in source.image)) return undefined
  return SELECTOR.pxe
}

const isByte = (value: number | undefined): boolean =>
  value !== undefined && Number.isInteger(value) && value >= 0 && value <= 0xff

const isFalse = (value: unknown): boolean => value === false || /^(0|f|false|off|n|no)$/i.test(String(value ?? ''))

const refused = (uuid: string, problem: string): UserError =>
  new UserError('bmc-refuses', `the BMC of node ${uuid}, which is reached by IPMI, ${problem}`)

/** The error of a driver for one of the caller. */
function bmcErrorOf(error: unknown): unknown {
  if (error instanceof IpmiSilence) return new BmcError('unreachable', error.message)
  if (error instanceof IpmiCommandError) return new BmcError('refused', error.message)
  if (error instanceof IpmiLoginRefused)
    return new BmcError(error.isForAccount ? 'unauthorized' : 'refused', error.message)
  return error
}
