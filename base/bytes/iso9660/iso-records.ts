import { both16, both32, ISO_SECTOR_BYTES, ucs2, wholeSectors } from './numbers.js'

/** `plain` with Rock Ridge's names beside its own, `joliet` in UCS-2. A volume has a tree of each. */
export type Naming = 'plain' | 'joliet'

/** `long`: up to 30 characters, in any case. `short`: 8 and 3 capitals, as of level 1. */
export type PlainNames = 'long' | 'short'

/** Where the bytes of a file or directory are. */
export interface IsoExtent {
  sector: number
  size: number
}

export interface DirectoryEntry extends IsoExtent {
  name: string
  folder: boolean
}

export interface DirectoryOptions {
  naming: Naming
  plainNames: PlainNames
  self: IsoExtent
  parent: IsoExtent
  /** Milliseconds since the epoch. */
  at: number
  /** Block of the Rock Ridge announcement; in the root of the plain tree only. */
  announcement: number | null
}

/** Announcement of Rock Ridge, in a block of its own (RRIP 1.09, 4.3). */
export const ROCK_RIDGE = susp(
  'ER',
  Buffer.concat([
    Buffer.from([10, 84, 135, 1]),
    Buffer.from('RRIP_1991A'),
    Buffer.from('THE ROCK RIDGE INTERCHANGE PROTOCOL PROVIDES SUPPORT FOR POSIX FILE SYSTEM SEMANTICS'),
    Buffer.from(
      'PLEASE CONTACT DISC PUBLISHER FOR SPECIFICATION SOURCE.  SEE PUBLISHER IDENTIFIER IN PRIMARY VOLUME DESCRIPTOR FOR CONTACT INFORMATION.',
    ),
  ]),
)

/** A directory: itself, its parent, then what is in it by name. No record crosses the end of a block (ECMA-119 6.8.1.1). */
export function encodeDirectory(entries: readonly DirectoryEntry[], options: DirectoryOptions): Buffer {
  const { naming, plainNames, self, parent, at, announcement } = options
  const plain = naming === 'plain'
  const announced =
    announcement === null
      ? []
      : [
          susp('SP', Buffer.from([0xbe, 0xef, 0])),
          susp('CE', Buffer.concat([both32(announcement), both32(0), both32(ROCK_RIDGE.length)])),
        ]
  const own = (extent: IsoExtent, name: number, more: readonly Buffer[] = []): Buffer =>
    makeDirectoryRecord(
      Buffer.from([name]),
      { ...extent, folder: true },
      at,
      plain ? [...more, ...posix({ folder: true })] : [],
    )
  const inside = entries
    .map((entry) => ({ entry, identifier: encodeIdentifier(entry, naming, plainNames) }))
    .sort((a, b) => Buffer.compare(a.identifier, b.identifier))
  const alike = inside.find(({ identifier: name }, index) => inside[index - 1]?.identifier.equals(name))
  if (alike) throw new Error(`the name ${alike.entry.name} is too much like another one for ISO 9660`)
  const records = inside.map(({ entry, identifier: name }) =>
    makeDirectoryRecord(name, entry, at, plain ? posix(entry) : []),
  )

  const parts: Buffer[] = []
  let length = 0
  for (const bytes of [own(self, 0, announced), own(parent, 1), ...records]) {
    const left = ISO_SECTOR_BYTES - (length % ISO_SECTOR_BYTES)
    if (bytes.length > left) {
      parts.push(Buffer.alloc(left))
      length += left
    }
    parts.push(bytes)
    length += bytes.length
  }
  return wholeSectors(Buffer.concat(parts))
}

/**
 * Names of an entry in each tree; the long ones of the plain tree are as `mkisofs -l -allow-lowercase -allow-multidot`
 * writes them, the short ones as it does without these options.
 */
export function encodeIdentifier(
  { name, folder }: { name: string; folder: boolean },
  naming: Naming,
  plainNames: PlainNames,
): Buffer {
  if (naming === 'joliet') return ucs2(folder ? name : `${name};1`)
  const letters = name.replaceAll(/[^\w.]/g, '_')
  const allowed = plainNames === 'short' ? short(letters) : letters.slice(0, 30)
  if (folder) return Buffer.from(allowed)
  return Buffer.from(`${allowed.includes('.') ? allowed : `${allowed}.`};1`)
}

function short(name: string): string {
  const [stem = '', extension] = name.toUpperCase().split(/\.(?=[^.]*$)/)
  const front = stem.replaceAll('.', '_').slice(0, 8)
  return extension === undefined ? front : `${front}.${extension.slice(0, 3)}`
}

/** ECMA-119 9.1 */
function makeDirectoryRecord(
  name: Buffer,
  { sector, size, folder }: IsoExtent & { folder: boolean },
  at: number,
  more: readonly Buffer[],
): Buffer {
  const date = new Date(at)
  const fixed = Buffer.concat([
    both32(sector),
    both32(size),
    Buffer.from([
      date.getUTCFullYear() - 1900,
      date.getUTCMonth() + 1,
      date.getUTCDate(),
      date.getUTCHours(),
      date.getUTCMinutes(),
      date.getUTCSeconds(),
      0,
      folder ? 2 : 0,
      0,
      0,
    ]),
    both16(1),
    Buffer.from([name.length]),
    name,
    // The system use area begins at an even offset.
    Buffer.alloc(name.length % 2 === 0 ? 1 : 0),
    ...more,
  ])
  const length = 2 + fixed.length
  return Buffer.concat([Buffer.from([length + (length % 2), 0]), fixed, Buffer.alloc(length % 2)])
}

/** Rock Ridge's part of a record: mode and links, and the name where it is one. Readable by all, owned by root. */
function posix({ name, folder }: { name?: string; folder: boolean }): Buffer[] {
  const mode = folder ? 0o040555 : 0o100444
  return [
    susp('RR', Buffer.from([name === undefined ? 1 : 9])),
    susp('PX', Buffer.concat([both32(mode), both32(folder ? 2 : 1), both32(0), both32(0)])),
    ...(name === undefined ? [] : [susp('NM', Buffer.concat([Buffer.from([0]), Buffer.from(name)]))]),
  ]
}

function susp(signature: string, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from(signature), Buffer.from([4 + data.length, 1]), data])
}
