import { dialectOf, dialectOfProduct, type DialectChoice } from '../../bmc/dialects/index.js'
import { defined } from '../../base/runtime/index.js'
import type { DiskSpec, MachineSpec, NicSpec } from '../machine-spec.js'
import { DISK_TRANSPORTS } from './disk-transports.js'

/** Hardware of a simulated machine, where it differs from the default machine. */
export interface MachineHardware extends Partial<
  Pick<
    MachineSpec,
    'firmware' | 'architecture' | 'cpus' | 'memoryMib' | 'manufacturer' | 'product' | 'serial' | 'hostname' | 'broken'
  >
> {
  /**
   * BMC: one that ironstage has, or one of the user's own. Default: the one that manufacturer and product tell, where both are
   * there and known, or else `standard`.
   */
  bmc?: DialectChoice
  /** All NICs, in order. The machine boots from the first one with `pxe: true`, else from the first. */
  nics?: readonly Partial<NicSpec>[]
  /** All disks, in order. */
  disks?: readonly Partial<Omit<DiskSpec, 'backing'>>[]
}

/**
 * The default machine with other hardware. Names, MAC addresses, serial numbers and WWNs that are left out are derived
 * from the machine and the position of the NIC or disk.
 *
 * @example
 * import { createLab, withHardware } from 'ironstage'
 *
 * await using lab = await createLab()
 * const node = await lab.enroll({ machine: withHardware(lab.spec(1), { cpus: 64, firmware: 'bios' }) })
 */
export function withHardware(spec: MachineSpec, { nics, disks, bmc, ...rest }: MachineHardware): MachineSpec {
  const dialect = bmc ?? bmcOfProduct(rest)
  const bootNic = Math.max(0, nics?.findIndex(({ pxe }) => pxe) ?? 0)
  return {
    ...spec,
    ...makerOf(dialect),
    ...rest,
    ...defined({
      dialect,
      nics: nics
        ? nics.map((nic, index) => ({
            ...nicAt(spec, index),
            carrier: true,
            ...nic,
            pxe: index === bootNic,
          }))
        : undefined,
      disks: disks ? disks.map((disk, index) => ({ ...diskAt(spec, index, disk), ...disk })) : undefined,
    }),
  }
}

/** The BMC that manufacturer and product tell; undefined where one of them is missing, or they are not known. */
export const bmcOfProduct = ({
  manufacturer,
  product,
}: Pick<MachineHardware, 'manufacturer' | 'product'>): DialectChoice | undefined =>
  manufacturer === undefined || product === undefined ? undefined : dialectOfProduct(manufacturer, product)

/** Manufacturer and product of a machine whose hardware names a BMC only. */
function makerOf(dialect: DialectChoice | undefined): Partial<Pick<MachineSpec, 'manufacturer' | 'product'>> {
  if (dialect === undefined) return {}
  const { manufacturer, model } = dialectOf({ dialect })
  return defined({ manufacturer: manufacturer ?? undefined, product: model ?? undefined })
}

/** The first two NICs are the default machine's; further ones differ in the third byte of the MAC address. */
function nicAt({ nics: [first, second] }: MachineSpec, index: number): NicSpec {
  const mac = index === 1 ? second!.mac : first!.mac.replace(/^(..:..):../, `$1:${hexByte(index)}`)
  return { ...(index === 0 ? first! : second!), name: `eno${index + 1}`, mac }
}

/** The first disk is like the default machine's first, all others like its second. */
function diskAt({ disks: [first, second] }: MachineSpec, index: number, { transport }: Partial<DiskSpec>): DiskSpec {
  const { defaults, kernelName } = DISK_TRANSPORTS[transport ?? 'sata']
  const wwn = `0x${(BigInt(first!.wwn) + BigInt(index)).toString(16)}`
  const serial = first!.serial.replace(/.$/, letter('A', index))
  return {
    ...(index === 0 ? first! : { ...second!, serial }),
    ...defaults,
    name: kernelName(index),
    wwn,
  }
}

const hexByte = (value: number): string => value.toString(16).padStart(2, '0')
const letter = (first: string, index: number): string => String.fromCharCode(first.charCodeAt(0) + index)
