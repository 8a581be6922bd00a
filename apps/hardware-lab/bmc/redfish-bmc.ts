import { defined, seconds, UserError, type Clock, type Logger } from '../../../base/runtime/index.js'
import type { Host } from '../hosts/host.js'
import type { HostBmc, BmcIdentity } from './host-bmc.js'
import { linksIn, objectIn, textIn, type RedfishJson } from '../../../lab/index.js'
import { RedfishRefused, type RedfishClient } from './redfish-client.js'

export interface RedfishBmcOptions {
  client: RedfishClient
  /** Path or id of the system; the only one by default. */
  system: string | undefined
  clock: Clock
  logger: Logger
  /** Pause between two looks at the power state, in milliseconds. */
  every?: number
}

/** A machine behind a Redfish service. */
export class RedfishBmc implements HostBmc {
  readonly name: string
  readonly #client: RedfishClient
  readonly #options: RedfishBmcOptions
  #system: string | undefined

  constructor(options: RedfishBmcOptions) {
    this.#client = options.client
    this.#options = options
    this.name = options.client.name
  }

  async identify(signal: AbortSignal): Promise<BmcIdentity> {
    const system = await this.#read(signal)
    const manager = await this.#manager(system, signal)
    return {
      bmcSerial: (manager && (textIn(manager, 'SerialNumber') ?? textIn(manager, 'UUID'))) ?? null,
      systemSerial: textIn(system, 'SerialNumber') ?? null,
      product: [textIn(system, 'Manufacturer'), textIn(system, 'Model')].filter(Boolean).join(' ') || null,
    }
  }

  async bootLive(live: Host['live'], signal: AbortSignal): Promise<void> {
    await this.#power('Off', signal)
    if ('iso' in live) {
      await this.#insert(live.iso, signal)
      await this.#override(['Cd', 'UsbCd', 'RemoteDrive'], {}, signal)
    } else if ('http' in live) await this.#override(['UefiHttp'], { HttpBootUri: live.http }, signal)
    else await this.#override(['Pxe'], {}, signal)
    await this.#power('On', signal)
  }

  async bootDisk(signal: AbortSignal): Promise<void> {
    await this.#power('Off', signal)
    const medium = await this.#medium(signal).catch(() => undefined)
    if (medium && isInserted(medium)) await this.#eject(medium, signal)
    await this.#override(['Hdd', 'None'], {}, signal)
    await this.#power('On', signal)
  }

  async log(since: number, signal: AbortSignal): Promise<string[]> {
    const system = await this.#read(signal)
    const manager = await this.#manager(system, signal)
    const lines: { at: number; text: string }[] = []
    for (const owner of [system, manager]) {
      const services = textIn(objectIn(owner, 'LogServices'), '@odata.id')
      if (services === undefined) continue
      for (const service of linksIn(await this.#client.get(services, signal), 'Members')) {
        const entries = textIn(objectIn(await this.#client.get(service, signal), 'Entries'), '@odata.id')
        if (entries === undefined) continue
        const { Members: members } = await this.#client.get(entries, signal)
        for (const entry of Array.isArray(members) ? (members as RedfishJson[]) : []) {
          const at = Date.parse(textIn(entry, 'Created') ?? '')
          const text = textIn(entry, 'Message') ?? textIn(entry, 'MessageId')
          if (text !== undefined && (Number.isNaN(at) || at >= since))
            lines.push({ at: Number.isNaN(at) ? 0 : at, text })
        }
      }
    }
    const shown = lines
      .sort((a, b) => a.at - b.at)
      .map(({ at, text }) => `${at === 0 ? '' : `${new Date(at).toISOString()} `}${text}`)
    // Some services show the same entries in the log of the system and in that of its manager.
    return [...new Set(shown)]
  }

  /**
   * Where the service says that the serial console is; by IPMI where it names no SSH.
   *
   * @throws UserError `bmc-lacks` where it has neither
   */
  async serialConsole(signal: AbortSignal): Promise<{ ssh?: { port: number; command?: string }; ipmi?: number }> {
    const system = await this.#read(signal)
    const offered = objectIn(system, 'SerialConsole')
    const ssh = objectIn(offered, 'SSH')
    const ipmi = objectIn(offered, 'IPMI')
    const portOf = (of: RedfishJson | undefined, usual: number) =>
      typeof of?.['Port'] === 'number' ? of['Port'] : usual
    if (ssh?.['ServiceEnabled'] === true) {
      const command = textIn(ssh, 'ConsoleEntryCommand')
      return { ssh: { port: portOf(ssh, 22), ...defined({ command }) } }
    }
    if (ipmi?.['ServiceEnabled'] === true) return { ipmi: portOf(ipmi, 623) }
    // Before version 1.13 of the schema the manager had it, without a port.
    const older = objectIn(await this.#manager(system, signal), 'SerialConsole')
    const types = Array.isArray(older?.['ConnectTypesSupported']) ? (older['ConnectTypesSupported'] as unknown[]) : []
    if (older?.['ServiceEnabled'] === true && types.includes('SSH')) return { ssh: { port: 22 } }
    if (older?.['ServiceEnabled'] === true && types.includes('IPMI')) return { ipmi: 623 }
    throw new UserError('bmc-lacks', `${this.name} offers no serial console by SSH or IPMI`, {
      remedy: 'switch it on in the BMC, or name a command that shows it with console.command',
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#client[Symbol.asyncDispose]()
  }

  async #read(signal: AbortSignal): Promise<RedfishJson> {
    this.#system ??= await this.#findSystem(signal)
    return this.#client.get(this.#system, signal)
  }

  async #findSystem(signal: AbortSignal): Promise<string> {
    const { system } = this.#options
    if (system?.startsWith('/') === true) return system
    const root = await this.#client.get('/redfish/v1/', signal)
    const collection = textIn(objectIn(root, 'Systems'), '@odata.id') ?? '/redfish/v1/Systems'
    const found = linksIn(await this.#client.get(collection, signal), 'Members')
    if (system !== undefined)
      return found.find((path) => path.split('/').at(-1) === system) ?? `${collection}/${system}`
    if (found.length === 1) return found[0]!
    throw new UserError(
      'bmc-lacks',
      `${this.name} has ${found.length} systems${found.length > 0 ? `: ${found.slice(0, 8).join(', ')}` : ''}`,
      {
        remedy: 'name one with bmc.system',
      },
    )
  }

  async #manager(system: RedfishJson, signal: AbortSignal): Promise<RedfishJson | undefined> {
    const [first] = linksIn(objectIn(system, 'Links'), 'ManagedBy')
    return first === undefined ? undefined : this.#client.get(first, signal)
  }

  /** The virtual drive that takes CDs, of the system or of its manager. */
  async #medium(signal: AbortSignal): Promise<RedfishJson> {
    const system = await this.#read(signal)
    for (const owner of [system, await this.#manager(system, signal)]) {
      const collection = textIn(objectIn(owner, 'VirtualMedia'), '@odata.id')
      if (collection === undefined) continue
      for (const path of linksIn(await this.#client.get(collection, signal), 'Members')) {
        const medium = await this.#client.get(path, signal)
        const types = Array.isArray(medium['MediaTypes']) ? (medium['MediaTypes'] as unknown[]) : []
        if (types.length === 0 || types.some((type) => type === 'CD' || type === 'DVD'))
          return { '@odata.id': path, ...medium }
      }
    }
    throw new UserError('bmc-lacks', `${this.name} has no virtual medium for CDs`, {
      remedy: 'use live.http or live.pxe; some BMCs need a licence for virtual media',
    })
  }

  async #insert(iso: string, signal: AbortSignal): Promise<void> {
    const { logger } = this.#options
    let medium = await this.#medium(signal)
    if (isInserted(medium)) {
      await this.#eject(medium, signal)
      medium = await this.#medium(signal)
    }
    const path = textIn(medium, '@odata.id')!
    const action = textIn(objectIn(objectIn(medium, 'Actions'), '#VirtualMedia.InsertMedia'), 'target')
    // Some take the URL alone, some want more, and some refuse what they do not know.
    const forms: RedfishJson[] = [
      { Image: iso, Inserted: true, WriteProtected: true },
      { Image: iso },
      { Image: iso, TransferMethod: 'Stream', TransferProtocolType: new URL(iso).protocol.slice(0, -1).toUpperCase() },
    ]
    for (const [index, form] of forms.entries()) {
      try {
        if (action === undefined) await this.#client.patch(path, form, signal)
        else await this.#client.act(action, form, signal)
        break
      } catch (error) {
        if (!(error instanceof RedfishRefused) || index === forms.length - 1) throw error
        if (![400, 409, 500].includes(error.status)) throw error
        logger('info', `${this.name} does not insert the medium so: ${error.message}`)
        const now = await this.#medium(signal)
        if (isInserted(now)) await this.#eject(now, signal)
      }
    }
    await this.#until(signal, 'has the medium inserted', async () => isInserted(await this.#client.get(path, signal)))
  }

  async #eject(medium: RedfishJson, signal: AbortSignal): Promise<void> {
    const path = textIn(medium, '@odata.id')!
    const action = textIn(objectIn(objectIn(medium, 'Actions'), '#VirtualMedia.EjectMedia'), 'target')
    if (action === undefined) await this.#client.patch(path, { Image: null, Inserted: false }, signal)
    else await this.#client.act(action, {}, signal)
    await this.#until(signal, 'has ejected its medium', async () => !isInserted(await this.#client.get(path, signal)))
  }

  /** Sets where the next boot is from; `targets` in the order in which they are preferred. */
  async #override(targets: readonly string[], more: RedfishJson, signal: AbortSignal): Promise<void> {
    const boot = objectIn(await this.#read(signal), 'Boot') ?? {}
    const allowed = boot['BootSourceOverrideTarget@Redfish.AllowableValues']
    const target = Array.isArray(allowed) ? targets.find((each) => allowed.includes(each)) : targets[0]
    if (target === undefined)
      throw new UserError(
        'bmc-lacks',
        `${this.name} cannot boot from ${targets[0]}; it offers ${(allowed as string[]).join(', ')}`,
      )
    const mode = textIn(boot, 'BootSourceOverrideMode') === undefined ? {} : { BootSourceOverrideMode: 'UEFI' }
    const enabled = target === 'None' ? 'Disabled' : 'Once'
    const change = { BootSourceOverrideTarget: target, BootSourceOverrideEnabled: enabled, ...more }
    try {
      await this.#client.patch(this.#system!, { Boot: { ...change, ...mode } }, signal)
    } catch (error) {
      if (!(error instanceof RedfishRefused) || error.status !== 400) throw error
      await this.#client.patch(this.#system!, { Boot: change }, signal)
    }
  }

  async #power(wanted: 'On' | 'Off', signal: AbortSignal): Promise<void> {
    const system = await this.#read(signal)
    if (textIn(system, 'PowerState') === wanted) return
    const reset = objectIn(objectIn(system, 'Actions'), '#ComputerSystem.Reset')
    const target = textIn(reset, 'target')
    if (target === undefined) throw new UserError('bmc-lacks', `${this.name} has no action to switch the machine`)
    const allowed = reset?.['ResetType@Redfish.AllowableValues']
    const kinds = wanted === 'On' ? ['On', 'ForceOn', 'PushPowerButton'] : ['ForceOff', 'GracefulShutdown']
    const kind = (Array.isArray(allowed) ? kinds.find((each) => allowed.includes(each)) : undefined) ?? kinds[0]!
    await this.#client.act(target, { ResetType: kind }, signal)
    await this.#until(
      signal,
      `is ${wanted.toLowerCase()}`,
      async () => textIn(await this.#read(signal), 'PowerState') === wanted,
    )
  }

  /** Waits for what a BMC reports; the time limit of the stage ends it. */
  async #until(signal: AbortSignal, what: string, holds: () => Promise<boolean>): Promise<void> {
    const { clock, logger, every = seconds(2) } = this.#options
    for (let looks = 0; !(await holds()); looks++) {
      if (looks === 5) logger('info', `waiting until ${this.name} ${what}`)
      await clock.sleep(looks === 0 ? Math.min(every, 100) : every, { signal })
    }
  }
}

const isInserted = (medium: RedfishJson): boolean => {
  const inserted = medium['Inserted']
  return typeof inserted === 'boolean' ? inserted : textIn(medium, 'Image') !== undefined
}
