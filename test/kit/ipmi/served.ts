import {
  defaultMachineSpec,
  NO_PACE,
  openMachines,
  type Machine,
  type Machines,
  type MachineSpec,
} from '../../../machine/index.js'
import {
  createIpmiBmc,
  serveIpmi,
  type IpmiAccount,
  type IpmiAddress,
  type IpmiBmc,
  type IpmiParts,
  type IpmiServer,
} from '../../../ipmi/index.js'
import { Probe, seededRandom, silent, systemClock, type Clock } from '../../../runtime/index.js'

export const ADMIN: IpmiAccount = { username: 'admin', password: 'secret-1' }

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
  const probe = new Probe()
  const random = seededRandom(1)
  const machines = await openMachines({
    ...{ stateDir: null, clock, random, probe, logger: silent, pace: NO_PACE },
    events: { ramdiskUp: () => {}, down: () => {} },
  })
  const accounts = new Map<string, IpmiAccount>()
  for (let n = 1; n <= count; n++) {
    await machines.create({
      ...defaultMachineSpec(n),
      disks: defaultMachineSpec(n).disks.map((disk) => ({ ...disk, backing: { kind: 'described' as const } })),
      ...hardware,
    })
    accounts.set(`machine-${n}`, ADMIN)
  }
  const parts = {
    ...{ clock, random, probe, logger: silent },
    accounts: {
      of: ({ spec }: Machine) => accounts.get(spec.id),
      set: ({ spec }: Machine, account: IpmiAccount) => void accounts.set(spec.id, account),
    },
  }
  const server = serveIpmi(parts)
  const machine = (n = 1): Machine => machines.get(`machine-${n}`)!
  return {
    ...{ server, machines, parts, accounts, machine },
    bmc: (n) => createIpmiBmc(machine(n), parts),
    open: (n) => server.open(machine(n), { host: '127.0.0.1', port: 0 }),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      await machines[Symbol.asyncDispose]()
    },
  }
}
