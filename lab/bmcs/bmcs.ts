import { maskedAddress } from '../../bytes/index.js'
import { Mutex, UserError, type Probe } from '../../runtime/index.js'
import type { Machine, Machines, MachineSpec } from '../../machine/index.js'
import { HARDWARE_TYPES, type Bmc, type BmcHardware, type Bmcs, type HardwareType } from '../../ironic-mock/index.js'
import { textOf } from '../../wire/index.js'
import type { JsonObject, NodeRecord, PortRecord } from '../../wire/index.js'
import type { BmcAccount, BmcAccounts } from './bmc-accounts.js'
import { machineHardware } from './bmc-hardware.js'

export interface BmcOptions {
  machines: () => Machines
  /** What a machine is made of that exists only because a node named its BMC. */
  profile: (named: Pick<MachineSpec, 'id' | 'bmc'>) => MachineSpec
  /** Told which node a machine is used as, before anything is done to the machine. */
  used: (machine: string, node: string) => void
  accounts: BmcAccounts
  /** Every call of a BMC passes here. */
  probe: Probe
}

/**
 * Finds the machine behind a node. A BMC that no machine has gets one, keyed by its address and system id; it comes into
 * being at its first power-on, with a NIC for each of the ports that the node has by then.
 */
export function machineBmcs(options: BmcOptions): Bmcs {
  const creating = new Mutex()
  return (node, ports) => {
    const key = bmcOf(node)
    return Promise.resolve(
      new MachineBmc({ ...options, key, ports, creating, node: node.uuid, account: accountOf(node) }),
    )
  }
}

/** Address of the BMC that a node names; undefined when it names none. */
export function bmcAddressOf(node: NodeRecord): string | undefined {
  try {
    return bmcOf(node).address
  } catch {
    return undefined
  }
}

/** Id of the machine behind a node, once there is one. */
export function machineOf(node: NodeRecord, machines: Machines): Machine | undefined {
  try {
    return findMachine(machines, bmcOf(node))
  } catch {
    return undefined
  }
}

export interface BmcKey {
  /** Host, with the port where it is not the protocol's own. */
  address: string
  /** Last part of a Redfish system id; empty where the address says it all. */
  systemId: string
}

/**
 * How a node's driver_info names its machine.
 *
 * @throws UserError when it names none
 */
function bmcOf({ driver, driver_info: info, uuid }: Pick<NodeRecord, 'driver' | 'driver_info' | 'uuid'>): BmcKey {
  const bmc = fieldsOf(driver)
  // Nothing leads from such a node to a machine; each has its own.
  if (!bmc) return { address: `${driver}:${uuid}`, systemId: '' }
  const address = bmc.address(info)
  return { address: bmc.addressForm === 'url' ? authority(address) : address, systemId: bmc.systemId(info) }
}

const fieldsOf = (driver: string): HardwareType['bmc'] => HARDWARE_TYPES.find(({ name }) => name === driver)?.bmc

const text = (info: JsonObject, key: string): string => (info[key] === undefined ? '' : textOf(info[key] as unknown))

function authority(address: string): string {
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
  // Without a system id Redfish takes the only system there is.
  const there = machines.list().filter(({ spec }) => spec.bmc?.address === address)
  return there.length === 1 ? there[0] : undefined
}

/** How a node's driver_info says who it is to the BMC. */
function accountOf({ driver, driver_info: info }: Pick<NodeRecord, 'driver' | 'driver_info'>): BmcAccount {
  const { username = 'redfish_username', password = 'redfish_password' } = fieldsOf(driver) ?? {}
  return { username: text(info, username), password: text(info, password) }
}

interface MachineBmcParts extends BmcOptions {
  account: BmcAccount
  key: BmcKey
  node: string
  ports: readonly PortRecord[]
  creating: Mutex
}

class MachineBmc implements Bmc {
  readonly #options: MachineBmcParts
  readonly hardware: BmcHardware

  constructor(options: MachineBmcParts) {
    this.#options = options
    this.hardware = machineHardware({
      admit: () => this.#admit(),
      find: () => this.#find(),
      planned: () => specFor(options),
      reach: () => this.#findOrCreate(),
    })
  }

  power(): Promise<'power on' | 'power off'> {
    return this.#asked(() => Promise.resolve(this.#find()?.power() === 'on' ? 'power on' : 'power off'))
  }

  setPower(target: Parameters<Bmc['setPower']>[0]): Promise<void> {
    return this.#asked(() => this.#switch(target))
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

  setBoot(source: Parameters<Bmc['setBoot']>[0]): Promise<void> {
    return this.#asked(async () => {
      const machine = await this.#findOrCreate()
      // What Ironic boots as virtual media is inserted, and goes when the machine is to boot something else.
      const { medium } = machine
      if (source.kind === 'iso') await machine.firmware.insert('cdrom', source.url)
      else if (medium !== undefined && machine.firmware.inserted('cdrom') === medium)
        await machine.firmware.eject(['cdrom'])
      await machine.setBoot(source)
    })
  }

  #asked<T>(work: () => Promise<T>): Promise<T> {
    const { probe, node } = this.#options
    return probe.around({ kind: 'bmc', node }, async () => {
      this.#admit()
      return work()
    })
  }

  #admit(): void {
    const { accounts, account, key } = this.#options
    accounts.admit(key.address, account, this.#find()?.spec.bmc ?? undefined)
  }

  #find(): Machine | undefined {
    return findMachine(this.#options.machines(), this.#options.key)
  }

  async #findOrCreate(): Promise<Machine> {
    const { creating, machines, used, node } = this.#options
    const machine =
      this.#find() ??
      (await creating.run(async () => this.#find() ?? (await machines().create(specFor(this.#options)))))
    used(machine.spec.id, node)
    return machine
  }
}

function specFor({ key: { address, systemId }, ports, profile }: MachineBmcParts): MachineSpec {
  const id = systemId === '' ? address : `${address}-${systemId}`
  const spec = profile({ id, bmc: { address, systemId } })
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
