import { sha256Hex } from '../../base/bytes/index.js'
import { UserError } from '../../base/runtime/index.js'
import type { DiskSpec, MachineSpec } from '../machine-spec.js'
import { checkSpec } from './check-spec.js'

/** A disk to put in the place of another; what is left out is as of the old one. */
export interface NewDisk {
  /** Serial number; that of a disk that was taken out before brings it back with its contents. Default: a new one. */
  serial?: string
  /** Default: one that the serial number gives. */
  wwn?: string
  /** Bytes. */
  size?: number
  model?: string
  vendor?: string
  rotational?: boolean
}

/** Name of a disk's file, which differs from that of every other disk that was in the same place. */
export const diskFileOf = ({ image, name }: DiskSpec): string => image ?? name

export const swappedWhileOn = (machine: string) =>
  new UserError('machine-on', `${machine} is on, and its disks are swapped only while it is off`, {
    remedy: 'switch it off first: PUT /_lab/machines/MACHINE/power {"power": "off"}',
  })

const hardwareChangeError = (code: 'no-such-disk' | 'no-such-nic' | 'disk-swap', message: string, remedy: string) =>
  new UserError(code, message, { remedy, kind: 'usage' })

/**
 * @returns undefined where the cable is so already
 * @throws UserError `no-such-nic`
 */
export function withCable(spec: MachineSpec, nic: string, carrier: boolean): MachineSpec | undefined {
  const found = spec.nics.find(({ name }) => name === nic)
  if (!found)
    throw hardwareChangeError('no-such-nic', `${spec.id} has no NIC ${nic}`, `it has ${formatNames(spec.nics)}`)
  if (found.carrier === carrier) return undefined
  return { ...spec, nics: spec.nics.map((each) => (each === found ? { ...each, carrier } : each)) }
}

export const noSuchDisk = ({ id, disks }: MachineSpec, disk: string) =>
  hardwareChangeError('no-such-disk', `${id} has no disk ${disk}`, `it has ${formatNames(disks)}`)

/** @throws UserError `no-such-disk`, `disk-swap`, `machine-spec` */
export function withDisk(spec: MachineSpec, disk: string, wanted: NewDisk): MachineSpec {
  const { id, disks, takenOut = [] } = spec
  const old = disks.find(({ name }) => name === disk)
  if (!old) throw noSuchDisk(spec, disk)
  const serial = wanted.serial ?? freeSerial(spec, old.serial)
  const present = disks.find((each) => each.serial === serial)
  if (present)
    throw hardwareChangeError(
      'disk-swap',
      `the disk ${serial} is in ${id} already, as ${present.name}`,
      'name another serial number',
    )
  const { file: _, ...backing } = { file: undefined, ...old.backing }
  const fresh: DiskSpec = {
    ...old,
    ...wanted,
    serial,
    wwn: wanted.wwn ?? wwnOf(id, serial),
    image: `${disk}-${serial}`,
    backing,
  }
  const before = takenOut.find((each) => each.serial === serial)
  if (before) checkReturn(before, disk, wanted)
  const put = before ?? fresh
  const twin = disks.find((each) => each !== old && each.wwn === put.wwn)
  if (twin)
    throw hardwareChangeError('disk-swap', `${twin.name} of ${id} has the WWN ${put.wwn} already`, 'name another WWN')
  const changed = {
    ...spec,
    disks: disks.map((each) => (each === old ? put : each)),
    takenOut: [...takenOut.filter((each) => each !== before), old],
  }
  checkSpec(changed)
  return changed
}

/** A disk comes back as it went. */
function checkReturn(before: DiskSpec, disk: string, wanted: NewDisk): void {
  const { serial, name } = before
  if (name !== disk)
    throw hardwareChangeError(
      'disk-swap',
      `the disk ${serial} was taken out of the place of ${name}`,
      `put it back as ${name}`,
    )
  for (const [member, value] of Object.entries(wanted))
    if (before[member as keyof DiskSpec] !== value)
      throw hardwareChangeError(
        'disk-swap',
        `the disk ${serial} was taken out, and its ${member} is ${String(before[member as keyof DiskSpec])}, not ${String(value)}`,
        'name its serial number alone, or another one for a new disk',
      )
}

function freeSerial({ disks, takenOut = [] }: MachineSpec, serial: string): string {
  const used = new Set([...disks, ...takenOut].map((each) => each.serial))
  const stem = serial.replace(/-\d+$/, '')
  for (let number = 2; ; number++) if (!used.has(`${stem}-${number}`)) return `${stem}-${number}`
}

/** A WWN in IEEE's registered format: 5, and 60 bits. */
const wwnOf = (machine: string, serial: string): string => `0x5${sha256Hex(`${machine}\n${serial}`).slice(0, 15)}`

const formatNames = (parts: readonly { readonly name: string }[]): string =>
  parts.map(({ name }) => name).join(', ') || 'none'
