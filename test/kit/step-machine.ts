import {
  defaultMachineSpec,
  NO_PACE,
  openMachines,
  type DiskSpec,
  type Machine,
  type MachineSpec,
} from '../../machine/index.js'
import { Probe, defined, seededRandom, silent, VirtualClock } from '../../base/runtime/index.js'
import { runCommand, type Step } from '../../steps/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { stepContext, type RecordingContext } from './step-context.js'

export const GIB = 2 ** 30

/** A disk of a simulated machine, described, so that it costs nothing. */
export const testDisk = (name: string, gib: number, change: Partial<DiskSpec> = {}): DiskSpec => ({
  name,
  size: gib * GIB,
  serial: `SERIAL-${name}`,
  wwn: `0x5000c5000000${name.charCodeAt(2).toString(16)}`,
  model: 'TEST DISK',
  vendor: 'ATA',
  rotational: false,
  transport: 'sata',
  sectorSize: 512,
  backing: { kind: 'described' },
  ...change,
})

/** A machine that has booted its ramdisk, on a virtual clock that advances while {@link run} waits. */
export async function stepMachine(disks: DiskSpec[], change: Partial<MachineSpec> = {}) {
  const clock = new VirtualClock()
  const machines = await openMachines({
    stateDir: null,
    clock,
    random: seededRandom(1),
    probe: new Probe(),
    logger: silent,
    pace: NO_PACE,
    events: { ramdiskUp: () => {}, down: () => {} },
  })
  const machine: Machine = await machines.create({ ...defaultMachineSpec({ id: 'm1', ...change }), disks })
  const boot = async (action: 'on' | 'reboot') => {
    await machine.setBoot({ kind: 'ramdisk', parameters: {} })
    await machine.setPower(action)
    while (!machine.boot()) await new Promise((resolve) => setImmediate(resolve))
  }
  await boot('on')
  return {
    machine,
    clock,
    reboot: () => boot('reboot'),
    /**
     * Runs a command and returns its output.
     *
     * @throws when the command fails
     */
    say: async (line: string, stdin?: Uint8Array) =>
      (
        await runCommand(machine.executor, line.split(' ') as [string, ...string[]], {
          effect: 'writes',
          ...defined({ stdin }),
        })
      ).stdout,
    run: async (step: Step, args: JsonObject = {}, node: JsonObject = {}, context: Partial<RecordingContext> = {}) =>
      clock.until(step.run(stepContext(machine.target, { node: { uuid: 'n1', ...node }, ...context }), args)),
    write: (path: string, text: string) => machine.executor.files.write(path, Buffer.from(text)),
    read: async (path: string) => Buffer.from(await machine.executor.files.read(path)).toString(),
    [Symbol.asyncDispose]: () => machines[Symbol.asyncDispose](),
  }
}
