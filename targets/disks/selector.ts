import { UserError } from '../../base/runtime/index.js'

/** Name of the one disk that a real target may write. */
export type DiskSelector =
  /** A serial number, a WWN, or a name below /dev/disk/by-id, which stay with the disk wherever it is plugged in. */
  | { kind: 'identity'; value: string }
  /** A kernel name, which another disk may have after the next boot, so the disk must have this identity too. */
  | { kind: 'name'; name: string; identity: string }
  /** A loop device that this process attached to a file. */
  | { kind: 'loop'; name: string; file: string; serial: string }

const BY_ID = '/dev/disk/by-id/'
/** Names that the kernel assigns in the order in which it finds disks. */
const KERNEL_NAME = /^((sd|vd|xvd|hd)[a-z]+|nvme\d+n\d+|mmcblk\d+|dasd[a-z]+|pmem\d+|md\d+|dm-\d+|loop\d+|nbd\d+)$/

/**
 * Parses `--device`, and `--yes-erase` for a kernel name.
 *
 * @throws UserError (usage) for a name that does not stay with a disk, unless the disk's identity comes with it
 */
export function diskSelector(device: string, yesErase?: string): DiskSelector {
  const name = kernelName(device)
  if (name === null) return { kind: 'identity', value: stableName(device, quotedName(device)) }
  if (yesErase !== undefined) return { kind: 'name', name, identity: identityIn(yesErase) }
  throw deviceOptionError(
    `${device} is not a stable name: another disk may have it after the next boot`,
    `name the disk by serial number, WWN or by-id name; or use --yes-erase SERIAL|WWN with those of ${device}`,
  )
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
  if (/-part\d+$/.test(id))
    throw deviceOptionError(`${subject} is a partition; an installation takes a whole disk`, REMEDY)
  return id
}

const deviceOptionError = (message: string, remedy: string) =>
  new UserError('device', message, { kind: 'usage', remedy })

/** Text for a message: control characters as escapes, and cut when too long. */
export const quotedName = (text: string): string =>
  /^[^\0-\x1f\x7f]{1,255}$/.test(text) ? text : JSON.stringify(text.length > 255 ? `${text.slice(0, 80)}...` : text)

const REMEDY = 'give its serial number, its WWN (0x...), or a name below /dev/disk/by-id'

export function describeSelector(selector: DiskSelector): string {
  switch (selector.kind) {
    case 'identity':
      return selector.value
    case 'name':
      return `${selector.name} with the serial number or WWN ${selector.identity}`
    case 'loop':
      return selector.file
  }
}
