import { parseSize, sizeText, UserError } from '../../base/runtime/index.js'

/** Name of the one disk that a real target may write. */
export type DiskSelector =
  /** A serial number, a WWN, or a name below /dev/disk/by-id, which stay with the disk wherever it is plugged in. */
  | { kind: 'identity'; value: string }
  /** A kernel name, which another disk may have after the next boot, so the disk must have this identity too. */
  | { kind: 'name'; name: string; identity: string }
  | PlaceSelector
  /** A loop device that this process attached to a file. */
  | { kind: 'loop'; name: string; file: string; serial: string }

/** A disk by its name below /dev/disk/by-path, for one that has no identity of its own, as of virtio. */
export interface PlaceSelector {
  kind: 'place'
  /** `pci-0000:00:04.0` */
  place: string
  /** Bytes that the disk must have, to the MiB; null for any size. */
  size: number | null
  /** Facts of the disk there at the first look, as `facts_of` prints them; null before that. */
  facts: string | null
}

const BY_ID = '/dev/disk/by-id/'
const BY_PATH = '/dev/disk/by-path/'
/** Names that the kernel assigns in the order in which it finds disks. */
const KERNEL_NAME = /^((sd|vd|xvd|hd)[a-z]+|nvme\d+n\d+|mmcblk\d+|dasd[a-z]+|pmem\d+|md\d+|dm-\d+|loop\d+|nbd\d+)$/

/**
 * Parses `--device`, and `--yes-erase` for a kernel name or a place.
 *
 * @throws UserError (usage) for a name that does not stay with a disk, unless the disk's identity comes with it
 */
export function diskSelector(device: string, yesErase?: string): DiskSelector {
  if (device.trim().startsWith(BY_PATH)) return placeSelector(device, yesErase)
  const name = kernelName(device)
  if (name === null) return { kind: 'identity', value: stableName(device, quotedName(device)) }
  if (yesErase !== undefined) return { kind: 'name', name, identity: identityIn(yesErase) }
  throw deviceOptionError(
    `${device} is not a stable name: another disk may have it after the next boot`,
    `name the disk by serial number, WWN or by-id name; or use --yes-erase SERIAL|WWN with those of ${device}; ` +
      'one that has none of them is named by its place, a name below /dev/disk/by-path',
  )
}

function placeSelector(device: string, size?: string): PlaceSelector {
  const quoted = quotedName(device)
  const place = device.trim().slice(BY_PATH.length)
  if (!/^[A-Za-z0-9][\w:.,@+-]{0,254}$/.test(place))
    throw deviceOptionError(
      `${quoted} is not the place of a disk`,
      'give a name below /dev/disk/by-path as it is there',
    )
  refusePartition(place, quoted)
  if (size !== undefined && !SIZE.test(size))
    throw deviceOptionError(
      `--yes-erase ${quotedName(size)}: that is not the size of a disk`,
      'with a name below /dev/disk/by-path give the size of the disk there, in bytes or as 60GB or 20GiB',
    )
  return { kind: 'place', place, size: size === undefined ? null : parseSize(size), facts: null }
}

const SIZE = /^[0-9]+(\.[0-9]+)? ?([KkMmGgTt][Ii]?[Bb]|[Bb])?$/

function refusePartition(name: string, subject: string): void {
  if (!/-part\d+$/.test(name)) return
  throw deviceOptionError(`${subject} is a partition; an installation takes a whole disk`, REMEDY)
}

function identityIn(yesErase: string): string {
  const named = `--yes-erase ${quotedName(yesErase)}`
  if (kernelName(yesErase) === null) return stableName(yesErase, `${named}: that`)
  throw deviceOptionError(`${named}: a kernel name says nothing about which disk has it`, REMEDY)
}

function kernelName(text: string): string | null {
  const name = text.trim().replace(/^\/dev\//, '')
  return KERNEL_NAME.test(name) ? name : null
}

/** Serial number, WWN or name below /dev/disk/by-id; `subject` begins the sentence that refuses anything else. */
function stableName(text: string, subject: string): string {
  const value = text.trim()
  if (!/^[^\s\0-\x1f\x7f'"]{1,255}$/.test(value))
    throw deviceOptionError(`${subject} is not the name of a disk`, REMEDY)
  if (!value.startsWith(BY_ID)) {
    if (value.startsWith('/')) throw deviceOptionError(`${subject} is not a stable name of a disk`, REMEDY)
    return value
  }
  const id = value.slice(BY_ID.length)
  if (id === '' || id.includes('/')) throw deviceOptionError(`${subject} is not the name of a disk`, REMEDY)
  refusePartition(id, subject)
  return id
}

const deviceOptionError = (message: string, remedy: string) =>
  new UserError('device', message, { kind: 'usage', remedy })

/** Text for a message: control characters as escapes, and cut when too long. */
export const quotedName = (text: string): string =>
  /^[^\0-\x1f\x7f]{1,255}$/.test(text) ? text : JSON.stringify(text.length > 255 ? `${text.slice(0, 80)}...` : text)

const REMEDY = 'give its serial number, its WWN (0x...), or a name below /dev/disk/by-id or /dev/disk/by-path'

export function describeSelector(selector: DiskSelector): string {
  switch (selector.kind) {
    case 'identity':
      return selector.value
    case 'name':
      return `${selector.name} with the serial number or WWN ${selector.identity}`
    case 'place':
      return `${BY_PATH}${selector.place}${selector.size === null ? '' : ` with ${sizeText(selector.size)}`}`
    case 'loop':
      return selector.file
  }
}
