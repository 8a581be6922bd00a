import type { HardwareFleet, Machine, NewDisk } from '../../machine/index.js'
import { readFleet } from '../../machine/index.js'
import type { BmcAccount, MachineReport, ControlHandler, MACHINE_OPERATIONS } from '../../control/index.js'
import type { ControlSubjects, SubjectParts } from './control-subjects.js'
import { machineReport } from './machine-report.js'

export interface MachineChangeParts {
  removeMachine: (id: string) => Promise<void>
  addMachines: (count: number, hardware?: HardwareFleet) => Promise<Machine[]>
  /** Replaces a machine by one as it was delivered. */
  reimage: (machine: Machine, hardware?: HardwareFleet) => Promise<Machine>
  setAccountOf: (machine: Machine, account: BmcAccount) => void
}

/** The calls that show and change machines. */
export function machineHandlers(
  parts: MachineChangeParts & Pick<SubjectParts, 'machines'>,
  subjects: ControlSubjects,
): Readonly<Record<(typeof MACHINE_OPERATIONS)[number]['id'], ControlHandler>> {
  return {
    machines: async () => ({ machines: await Promise.all(parts.machines.list().map(machineReport)) }),
    machine: (call) => machineReport(subjects.machine(call)),
    addMachines: async ({ body }) => {
      const { count = 1, ...wanted } = body as { count?: number; hardware?: unknown }
      const added = await parts.addMachines(count, hardwareIn(wanted))
      return { machines: await Promise.all(added.map(machineReport)) }
    },
    reimageMachine: async (call) =>
      machineReport(await parts.reimage(subjects.machine(call), hardwareIn(call.body as { hardware?: unknown }))),
    bmcAccountOfMachine: (call) => parts.setAccountOf(subjects.machine(call), call.body as BmcAccount),
    removeMachine: (call) => parts.removeMachine(subjects.machine(call).spec.id),
    powerOfMachine: (call) => pressPower(subjects.machine(call), call.body),
    ejectFromMachine: (call) => ejectMedia(subjects.machine(call)),
    cable: async (call) => {
      const machine = subjects.machine(call)
      await machine.setCarrier(call.params['nic']!, (call.body as { carrier: boolean }).carrier)
      return machineReport(machine)
    },
    swapDisk: async (call) => {
      const machine = subjects.machine(call)
      await machine.swapDisk(call.params['disk']!, call.body as NewDisk)
      return machineReport(machine)
    },
  }
}

export async function pressPower(machine: Machine, body: unknown): Promise<MachineReport> {
  const { power, soft = false } = body as { power: 'on' | 'off' | 'reboot'; soft?: boolean }
  await machine.setPower(power, { soft })
  return machineReport(machine)
}

export async function ejectMedia(machine: Machine): Promise<MachineReport> {
  await machine.firmware.eject(null)
  return machineReport(machine)
}

const hardwareIn = ({ hardware }: { hardware?: unknown }): HardwareFleet | undefined =>
  hardware === undefined ? undefined : readFleet(hardware, 'the hardware')
