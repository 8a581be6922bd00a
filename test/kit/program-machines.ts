import { readFile } from 'node:fs/promises'
import lzma from 'lzma-native'
import { afterAll, beforeAll } from 'vitest'
import { defaultMachineSpec } from '../../machine/hardware/default-spec.js'
import { NO_PACE, type Machine, type Machines } from '../../machine/machine.js'
import { openMachines } from '../../machine/machines.js'
import { Probe, defined, seededRandom, silent, systemClock } from '../../base/runtime/index.js'

/** Runs a command line on a machine. */
export async function run(machine: Machine, line: string, stdin?: Uint8Array) {
  const argv = line.split(' ') as [string, ...string[]]
  const started = await machine.executor.start({ argv, effect: 'writes', ...defined({ stdin }) })
  const text = { stdout: '', stderr: '' }
  for await (const { stream, bytes } of started.output) text[stream] += Buffer.from(bytes).toString()
  const exit = await started.exit
  return { ...text, code: exit.kind === 'exited' ? exit.code : -1 }
}

/** The rehearsal image. */
export const image = new Promise<Buffer>((resolve, reject) => {
  readFile(new URL('../../images/coreos-metal.raw.xz', import.meta.url))
    .then((xz) => lzma.decompress(xz, {}, (bytes) => resolve(bytes)))
    .catch(reject)
})

/** Machines of a test file, which are closed after it. */
export function programMachines() {
  const probe = new Probe()
  let machines: Machines
  let numbered = 0
  beforeAll(async () => {
    machines = await openMachines({
      stateDir: null,
      clock: systemClock(),
      random: seededRandom(1),
      probe,
      logger: silent,
      pace: NO_PACE,
      events: { ramdiskUp: () => {}, down: () => {} },
    })
  })
  afterAll(() => machines[Symbol.asyncDispose]())
  /** A machine that runs a ramdisk. */
  async function ramdisk(options: Partial<Parameters<typeof defaultMachineSpec>[0] & object> = {}): Promise<Machine> {
    const profile = {
      ...defaultMachineSpec(1),
      id: `m${++numbered}`,
      bmc: { address: '192.0.2.9', systemId: `${numbered}` },
    }
    const disks = profile.disks.map((disk) => ({ ...disk, backing: { kind: 'described' } as const }))
    const machine = await machines.create({ ...profile, disks, ...options })
    await machine.setBoot({ kind: 'ramdisk', parameters: {} })
    await machine.setPower('on')
    while (!machine.boot()) await new Promise((resolve) => setTimeout(resolve, 1))
    return machine
  }
  return { probe, ramdisk }
}

/** A machine that runs a ramdisk and whose sda holds the rehearsal image. */
export function installedMachine(ramdisk: () => Promise<Machine>) {
  const installed = {} as { machine: Machine }
  beforeAll(async () => {
    installed.machine = await ramdisk()
    await run(installed.machine, 'dd of=/dev/sda status=none', await image)
  })
  return installed
}

/** Start of the partitions' GUIDs in the rehearsal image; the last digit is the partition's number. */
export const GUID = '1205741f-ca1a-4e5a-9b05-00000000000'
