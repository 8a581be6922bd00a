import { defaultMachineSpec, NO_PACE, openMachines, type Machine, type MachineSpec } from '../../machine/index.js'
import { Probe, seededRandom, silent, type Scope } from '../../base/runtime/index.js'
import { clock } from './measure.js'

/** A simulated machine that has booted the ramdisk, for as long as the scope is open. */
export async function machineInRamdisk(scope: Scope, spec: MachineSpec = defaultMachineSpec(1)): Promise<Machine> {
  let isUp!: (machine: Machine) => void
  const up = new Promise<Machine>((resolve) => (isUp = resolve))
  const machines = scope.use(
    await openMachines({
      stateDir: null,
      clock,
      random: seededRandom(1),
      probe: new Probe(),
      logger: silent,
      pace: NO_PACE,
      events: { ramdiskUp: (machine) => isUp(machine), down: () => {} },
    }),
  )
  const made = await machines.create(spec)
  await made.setBoot({ kind: 'ramdisk', parameters: {} })
  await made.setPower('on')
  return up
}
