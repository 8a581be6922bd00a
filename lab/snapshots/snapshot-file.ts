import { sha256Hex } from '../../base/bytes/index.js'
import { UserError } from '../../base/runtime/index.js'
import type { LoggedInput, HistoryPosition } from './lab-input.js'
import type { LabFingerprint } from './snapshots.js'

/** Options of a lab, as far as they are data: two labs with the same identity do the same. */
export type LabIdentity = Readonly<Record<string, unknown>>

/** A snapshot as a file has it: everything that was done to the lab from its start, and where that led. */
export interface SnapshotFile {
  readonly identity: LabIdentity
  /** In milliseconds since the epoch, in lab time. */
  readonly at: number
  readonly place: HistoryPosition
  readonly check: LabFingerprint
  readonly inputs: readonly LoggedInput[]
}

const FORMAT = 'ironstage snapshot'
/** Version of the schema. Also to be raised when labs come to do something else at the same calls. */
const SNAPSHOT_VERSION = 1

/** One JSON document; `digest` is that of the text of `snapshot`. */
export function writeSnapshot(snapshot: SnapshotFile): string {
  const text = JSON.stringify(snapshot, asJson)
  return `${JSON.stringify({ format: FORMAT, version: SNAPSHOT_VERSION, digest: sha256Hex(text) }).slice(0, -1)},"snapshot":${text}}\n`
}

/**
 * @param identity of the lab that is to have the snapshot
 * @throws UserError for a damaged file, another version, or another lab
 */
export function readSnapshot(text: string, identity: LabIdentity): SnapshotFile {
  const document = parseSnapshotJson(text)
  if (document?.['format'] !== FORMAT) throw snapshotFileError('it is not a snapshot of ironstage, or is cut short')
  const { version, digest } = document
  if (version !== SNAPSHOT_VERSION)
    throw snapshotFileError(
      `it has version ${String(version)} of the format, and this ironstage reads version ${SNAPSHOT_VERSION}`,
    )
  const written = text.slice(text.indexOf('"snapshot":') + '"snapshot":'.length, text.lastIndexOf('}'))
  if (sha256Hex(written) !== digest) throw snapshotFileError('it is damaged: its contents do not match their digest')
  const snapshot = JSON.parse(written, fromJson) as SnapshotFile
  const ours = JSON.parse(JSON.stringify(identity, asJson)) as LabIdentity
  const differing = [...new Set([...Object.keys(ours), ...Object.keys(snapshot.identity)])].filter(
    (option) => JSON.stringify(ours[option]) !== JSON.stringify(snapshot.identity[option]),
  )
  if (differing.length > 0)
    throw new UserError(
      'snapshot-options',
      `the snapshot is of a lab with other options: ${differing.sort().join(', ')}`,
      { remedy: 'make a lab with the options of that one' },
    )
  return snapshot
}

function parseSnapshotJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

const snapshotFileError = (why: string): UserError =>
  new UserError('snapshot-file', `the snapshot cannot be used: ${why}`, {
    remedy: 'export it again, with this version of ironstage',
  })

const BYTES = '$bytes'

/** Bytes as base64; what JSON has no form for is left out. */
function asJson(this: unknown, key: string, value: unknown): unknown {
  const original = (this as Record<string, unknown>)[key]
  return original instanceof Uint8Array ? { [BYTES]: Buffer.from(original).toString('base64') } : value
}

function fromJson(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(BYTES in value)) return value
  return new Uint8Array(Buffer.from(value[BYTES] as string, 'base64'))
}
