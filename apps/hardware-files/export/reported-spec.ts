import { defined } from '../../../base/runtime/index.js'
import type { MachineReport } from '../../../control/index.js'
import { defaultMachineSpec, type MachineHardware, type MachineSpec } from '../../../machine/index.js'

/** The machine of a report, as one of its own: without BMC, state and contents of disks. */
export const reportedSpec = ({ id, hardware, nics, disks }: MachineReport): MachineSpec => ({
  ...defaultMachineSpec({ id }),
  ...hardware,
  bmc: null,
  nics,
  disks: disks.map(({ file: _file, ...disk }) => ({ ...disk, backing: { kind: 'described' } })),
})

/** The machine of a report as a hardware file describes it, with each value that a file may have. */
export const reportedHardware = ({ hardware, nics, disks }: MachineReport): MachineHardware => ({
  ...hardware,
  nics,
  // An empty vendor is the one that an NVMe disk has by default.
  disks: disks.map(({ file: _file, ...disk }) => defined({ ...disk, vendor: disk.vendor || undefined })),
})
