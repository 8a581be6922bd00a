import { stringify } from 'yaml'
import { defined, GIB } from '../../base/runtime/index.js'
import type { MachineHardware } from '../../machine/index.js'

/** A machine of a hardware file, and the BareMetalHost that it is for. */
export interface HardwareFileMachine {
  readonly host?: string
  /** File with the record of its BMC. */
  readonly bmcFile?: string
  readonly hardware: MachineHardware
}

/** Hardware as a hardware file: a machine by itself, or several under `machines`. */
export function hardwareText(
  machines: readonly [HardwareFileMachine, ...HardwareFileMachine[]],
  comment: string,
): string {
  const [first, ...others] = machines
  const document = others.length === 0 ? writtenMachine(first) : { machines: machines.map(entryOf) }
  const text = stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 })
  return `# ${comment.replaceAll(/\s+/g, ' ')}\n${text}`
}

const entryOf = (machine: HardwareFileMachine): object => ({
  ...defined({ host: machine.host }),
  ...writtenMachine(machine),
})

const writtenMachine = ({ bmcFile, hardware }: HardwareFileMachine): object => ({
  ...defined({ bmc: bmcFile }),
  ...writtenHardware(hardware),
})

/** Hardware whose sizes have a unit, where that says them exactly. */
const writtenHardware = (hardware: MachineHardware): object =>
  defined({ ...hardware, disks: hardware.disks?.map((disk) => defined({ ...disk, size: sizeText(disk.size) })) })

const sizeText = (bytes: number | undefined): string | number | undefined =>
  bytes !== undefined && bytes % GIB === 0 ? `${bytes / GIB}GiB` : bytes
