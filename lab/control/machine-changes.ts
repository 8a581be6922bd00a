import {
  hardwareOf,
  withHardware,
  type HardwareFleet,
  type Machine,
  type MachineBootSource,
  type Machines,
  type MachineSpec,
} from '../../machine/index.js'

interface NewMachines {
  /** Specification of the machine of a number. */
  spec: (number: number, hardware: HardwareFleet | undefined) => MachineSpec
  /** Source of its boots; default: its disks. */
  source?: MachineBootSource
  /** Called with each machine, before anything uses it. */
  made?: (machine: Machine) => Promise<void>
  /** Called once the list of machines has changed. */
  changed?: () => Promise<void> | undefined
}

/** Adds machines to a lab that runs, and makes them new. */
export function machineChanges(
  machines: Pick<Machines, 'create' | 'get' | 'remove'>,
  { spec, source, made, changed }: NewMachines,
) {
  const create = async (wanted: MachineSpec): Promise<Machine> => {
    const machine = await machines.create(wanted, source)
    await made?.(machine)
    return machine
  }
  return {
    addMachines: async (count: number, hardware?: HardwareFleet): Promise<Machine[]> => {
      const added: Machine[] = []
      // The next numbers that are free.
      try {
        for (let number = 1; added.length < count; number++) {
          const wanted = spec(number, hardware)
          if (!machines.get(wanted.id)) added.push(await create(wanted))
        }
      } finally {
        await changed?.()
      }
      return added
    },
    reimage: async ({ spec: old }: Machine, hardware?: HardwareFleet): Promise<Machine> => {
      await machines.remove(old.id)
      try {
        return await create(hardware ? withHardware(old, hardwareOf(hardware, 1)) : old)
      } finally {
        await changed?.()
      }
    },
  }
}
