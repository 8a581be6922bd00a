import type { Machine, Machines, MachineSpec } from '../../../machine/index.js'
import {
  createIpmiBmc,
  serveIpmi,
  type IpmiAccount,
  type IpmiAddress,
  type IpmiBmc,
  type IpmiParts,
  type IpmiServer,
} from '../../../bmc/ipmi/index.js'
import { silent, systemClock, type Clock } from '../../../base/runtime/index.js'
import { ADMIN, describedMachines } from '../described-machines.js'

export { ADMIN }

/** Machines in memory, their BMCs' accounts, and an IPMI server for them. */
export interface ServedIpmi extends AsyncDisposable {
  readonly server: IpmiServer
  readonly machines: Machines
  readonly parts: Omit<Required<IpmiParts>, 'consoles'>
  readonly accounts: Map<string, IpmiAccount>
  machine(n?: number): Machine
  /** The BMC of a machine without a socket. */
  bmc(n?: number): IpmiBmc
  /** Opens the BMC of a machine on a free port of loopback. */
  open(n?: number): Promise<IpmiAddress>
}

/** Machines whose BMCs have the account {@link ADMIN}. */
export async function servedIpmi(
  count = 1,
  clock: Clock = systemClock(),
  hardware: Partial<MachineSpec> = {},
): Promise<ServedIpmi> {
  const { machines, probe, random, accounts, machine } = await describedMachines(count, clock, hardware)
  const parts = {
    clock,
    random,
    probe,
    logger: silent,
    accounts: {
      of: ({ spec }: Machine) => accounts.get(spec.id),
      set: ({ spec }: Machine, account: IpmiAccount) => void accounts.set(spec.id, account),
    },
  }
  const server = serveIpmi(parts)
  return {
    server,
    machines,
    parts,
    accounts,
    machine,
    bmc: (n) => createIpmiBmc(machine(n), parts),
    open: (n) => server.open(machine(n), { host: '127.0.0.1', port: 0 }),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      await machines[Symbol.asyncDispose]()
    },
  }
}
