import { maskedAddress } from '../../base/bytes/index.js'
import { Mutex, UserError, type Probe } from '../../base/runtime/index.js'
import type { Machine, Machines, MachineSpec } from '../../machine/index.js'
import {
  HARDWARE_TYPES,
  type Bmc,
  type BmcHardware,
  type BmcRequest,
  type Bmcs,
  type BootMedia,
  type BootSource,
  type HardwareType,
} from '../../ironic-mock/index.js'
import { formatClientValue } from '../../base/wire/index.js'
import type { JsonObject, NodeRecord, PortRecord } from '../../base/wire/index.js'
import type { BmcAccounts } from './bmc-accounts.js'
import type { BmcAccount } from '../../control/index.js'
import type { BmcProtocol } from './bmc-point.js'
import { machineHardware, missingSlot } from './machine-bmc-hardware.js'
import { bootDeviceOf, probedBmcCall, throughProbe } from './probed-bmc.js'

/** How Ironic asks the BMC of a node. */
export function bmcProtocolOf({ driver }: Pick<NodeRecord, 'driver'>): BmcProtocol {
  const fields = fieldsOf(driver)
  if (!fields) return null
  return fields.addressForm === 'url' ? 'redfish' : 'ipmi'
}

export interface BmcOptions {
  machines: Machines
  /** Specification for a machine that is created because a node of a name uses its BMC. */
  profile: (named: Pick<MachineSpec, 'id' | 'bmc'>, node: string | null) => MachineSpec
  /** Called with the node that uses a machine, before the machine changes. */
  used: (machine: string, node: string) => void
  accounts: BmcAccounts
  /** Every call of a BMC passes here. */
  probe: Probe
}

/**
 * Finds the machine behind a node. For an unknown BMC, a machine is created at the first power-on, keyed by BMC address
 * and system id, with a NIC for each port that the node has then.
 */
export function machineBmcs(options: BmcOptions): Bmcs {
  const creating = new Mutex()
  return (node, ports, signal) => {
    const key = bmcOf(node)
    return Promise.resolve(
      new MachineBmc({
        ...options,
        key,
        ports,
        creating,
        node: node.uuid,
        driver: node.driver,
        protocol: bmcProtocolOf(node),
        name: node.name,
        account: nodeAccountOf(node),
        signal,
      }),
    )
  }
}

/** Address of a node's BMC; undefined without a BMC address. */
export function bmcAddressOf(node: NodeRecord): string | undefined {
  try {
    return bmcOf(node).address
  } catch {
    return undefined
  }
}

/** The machine behind a node, if it exists. */
export function findNodeMachine(node: NodeRecord, machines: Machines): Machine | undefined {
  try {
    return findMachine(machines, bmcOf(node))
  } catch {
    return undefined
  }
}

interface BmcKey {
  /** Host, with the port when it is not the protocol's default. */
  address: string
  /** Last part of a Redfish system id; empty for a BMC with a single system. */
  systemId: string
}

/**
 * Reads the BMC's address and system id from a node's driver_info.
 *
 * @throws UserError when the driver_info has no BMC address
 */
function bmcOf({ driver, driver_info: info, uuid }: Pick<NodeRecord, 'driver' | 'driver_info' | 'uuid'>): BmcKey {
  const bmc = fieldsOf(driver)
  // Drivers without a BMC address: each node gets a machine of its own.
  if (!bmc) return { address: `${driver}:${uuid}`, systemId: '' }
  const address = bmc.address(info)
  return { address: bmc.addressForm === 'url' ? findBmcAuthority(address) : address, systemId: bmc.systemId(info) }
}

const fieldsOf = (driver: string): HardwareType['bmc'] => HARDWARE_TYPES.find(({ name }) => name === driver)?.bmc

const readInfoText = (info: JsonObject, key: string): string =>
  info[key] === undefined ? '' : formatClientValue(info[key] as unknown)

/** Hosts of addresses that were read before: the journal asks at each exchange. */
const hosts = new Map<string, string>()
const MAX_BMC_HOSTS = 100_000

function findBmcAuthority(address: string): string {
  const known = hosts.get(address)
  if (known !== undefined) return known
  const host = parseBmcHost(address)
  if (hosts.size >= MAX_BMC_HOSTS) hosts.clear()
  hosts.set(address, host)
  return host
}

function parseBmcHost(address: string): string {
  const url = /^[a-z]+:\/\//i.test(address) ? address : `https://${address}`
  if (!URL.canParse(url))
    throw new UserError(
      'bmc-address',
      `the BMC address ${JSON.stringify(maskedAddress(address))} is neither a host nor a URL`,
    )
  return new URL(url).host
}

function findMachine(machines: Machines, { address, systemId }: BmcKey): Machine | undefined {
  const found = machines.byBmc(address, systemId)
  if (found || systemId !== '') return found
  // Without a system id Redfish uses the only system.
  const there = machines.list().filter(({ spec }) => spec.bmc?.address === address)
  return there.length === 1 ? there[0] : undefined
}

/** Reads the BMC account from a node's driver_info. */
function nodeAccountOf({ driver, driver_info: info }: Pick<NodeRecord, 'driver' | 'driver_info'>): BmcAccount {
  const { username = 'redfish_username', password = 'redfish_password' } = fieldsOf(driver) ?? {}
  return { username: readInfoText(info, username), password: readInfoText(info, password) }
}

interface MachineBmcParts extends BmcOptions {
  account: BmcAccount
  key: BmcKey
  node: string
  driver: string
  protocol: BmcProtocol
  /** Name of the node. */
  name: string | null
  ports: readonly PortRecord[]
  creating: Mutex
  signal: AbortSignal | undefined
}

class MachineBmc implements Bmc {
  readonly #options: MachineBmcParts
  readonly hardware: BmcHardware

  constructor(options: MachineBmcParts) {
    this.#options = options
    const hardware = machineHardware({
      node: options.node,
      driver: options.driver,
      admit: () => this.#admit(),
      find: () => this.#find(),
      planned: () => specFor(options),
      reach: () => this.#findOrCreate(),
    })
    this.hardware = throughProbe(hardware, (request, work) => this.#call(request, work))
  }

  power(): Promise<'power on' | 'power off'> {
    return this.#call({ call: 'read power' }, () =>
      Promise.resolve(this.#find()?.power() === 'on' ? 'power on' : 'power off'),
    )
  }

  setPower(target: Parameters<Bmc['setPower']>[0]): Promise<void> {
    return this.#call({ call: 'set power', target }, () => this.#switch(target))
  }

  async #switch(target: Parameters<Bmc['setPower']>[0]): Promise<void> {
    switch (target) {
      case 'power on':
        return (await this.#findOrCreate()).setPower('on')
      case 'power off':
        return this.#find()?.setPower('off')
      case 'soft power off':
        return this.#find()?.setPower('off', { soft: true })
      case 'rebooting':
        return (await this.#findOrCreate()).setPower('reboot')
      case 'soft rebooting':
        return (await this.#findOrCreate()).setPower('reboot', { soft: true })
    }
  }

  async setBoot(source: BootSource, media?: BootMedia): Promise<void> {
    if (media) await this.#changeMedia(media, source)
    await this.#call({ call: 'set boot', target: bootDeviceOf(source) }, async () => {
      await (await this.#findOrCreate()).setBoot(source)
    })
  }

  /** Has the drives as a boot needs them; drives that are so already are not asked for. */
  async #changeMedia({ eject, insert }: BootMedia, source: BootSource): Promise<void> {
    // The ISO that Ironic makes of a ramdisk is no image here, and needs a slot all the same.
    const isOwnIso = source.kind === 'ramdisk' || source.kind === 'pxe'
    if (isOwnIso && !(await this.#findOrCreate()).firmware.hasSlot('cdrom'))
      throw missingSlot(this.#options.node, 'the image of its ramdisk')
    const devices = eject.filter((device) => this.#find()?.firmware.inserted(device) !== undefined)
    if (devices.length > 0) await this.hardware.change({ change: 'eject media', devices })
    if (insert !== undefined) await this.hardware.change({ change: 'insert media', device: 'cdrom', url: insert })
  }

  #call<T>(request: BmcRequest, work: () => Promise<T>): Promise<T> {
    return probedBmcCall(this.#options, request, async () => {
      this.#admit()
      return work()
    })
  }

  #admit(): void {
    const { accounts, account, key } = this.#options
    accounts.admit(key.address, account, this.#find()?.spec.bmc ?? undefined)
  }

  #find(): Machine | undefined {
    return findMachine(this.#options.machines, this.#options.key)
  }

  async #findOrCreate(): Promise<Machine> {
    const { creating, machines, used, node } = this.#options
    const machine =
      this.#find() ?? (await creating.run(async () => this.#find() ?? (await machines.create(specFor(this.#options)))))
    used(machine.spec.id, node)
    return machine
  }
}

/** Id of a machine that is made for a BMC. */
const machineIdOf = ({ address, systemId }: BmcKey): string => (systemId === '' ? address : `${address}-${systemId}`)

/** Id of the machine that a node is to find behind its BMC, before it is there; undefined without a BMC address. */
export function plannedMachineOf(node: NodeRecord): string | undefined {
  try {
    return machineIdOf(bmcOf(node))
  } catch {
    return undefined
  }
}

function specFor({ key, name, ports, profile }: MachineBmcParts): MachineSpec {
  const { address, systemId } = key
  const id = machineIdOf(key)
  const spec = profile({ id, bmc: { address, systemId } }, name)
  if (ports.length === 0) return spec
  const pxe = ports.find((port) => port.pxe_enabled) ?? ports[0]!
  return {
    ...spec,
    nics: ports.map(({ address: mac }, index) => ({
      ...(spec.nics[index] ?? { ...spec.nics[1]!, name: `eno${index + 1}` }),
      mac,
      carrier: true,
      pxe: mac === pxe.address,
    })),
  }
}
