import {
  defaultMachineSpec,
  NO_PACE,
  openMachines,
  type MachinePace,
  type Machines,
  type MachineSpec,
} from '../../machine/index.js'
import { Probe, seededRandom, silent, type Clock } from '../../base/runtime/index.js'

/** The account of the BMC of each machine, unless a test changes it. */
export const ADMIN = { username: 'admin', password: 'secret-1' }

/** Machines in memory with described disks, named `machine-1` and on, and the accounts of their BMCs. */
export async function describedMachines(
  count: number,
  clock: Clock,
  hardware: Partial<MachineSpec> = {},
  pace: MachinePace = NO_PACE,
) {
  const probe = new Probe()
  const random = seededRandom(1)
  const machines: Machines = await openMachines({
    stateDir: null,
    clock,
    random,
    probe,
    logger: silent,
    pace,
    events: { ramdiskUp: () => {}, down: () => {} },
  })
  const accounts = new Map<string, typeof ADMIN>()
  for (let n = 1; n <= count; n++) {
    const spec = { ...defaultMachineSpec(n), ...hardware }
    const disks = spec.disks.map((disk) => ({ ...disk, backing: { kind: 'described' as const } }))
    await machines.create({ ...spec, disks })
    accounts.set(`machine-${n}`, ADMIN)
  }
  return { probe, random, machines, accounts, machine: (n = 1) => machines.get(`machine-${n}`)! }
}
