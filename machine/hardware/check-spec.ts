import { dialectOf } from '../../bmc/dialects/index.js'
import { UserError } from '../../base/runtime/index.js'
import type { MachineSpec } from '../machine-spec.js'

/** Bytes of a disk. */
const MAX_DISK_BYTES = 2 ** 50

/** @throws UserError `machine-spec`; `bmc-dialect` for a BMC that cannot be */
export function checkSpec(spec: MachineSpec): void {
  const wrong = (message: string, remedy: string) =>
    new UserError('machine-spec', `machine ${spec.id}: ${message}`, { remedy, kind: 'usage' })
  if (spec.id === '') throw wrong('the id is empty', 'give it a name')
  dialectOf(spec)
  const names = [...spec.disks, ...spec.nics].map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw wrong(`two devices are called ${twice}`, 'name each disk and NIC differently')
  for (const disk of spec.disks)
    if (!(disk.size > 0 && disk.size <= MAX_DISK_BYTES) || disk.size % disk.sectorSize !== 0)
      throw wrong(
        `${disk.name} has a size of ${disk.size} bytes`,
        `use a multiple of ${disk.sectorSize}, at most 1 PiB`,
      )
}
