export interface CpioMember {
  /** Relative. */
  path: string
  mode: number
  bytes: Uint8Array
}

/**
 * An archive in the kernel's `newc` format: folders before what is in them, owner root, time 0, inodes counted from 0,
 * as coreos-installer writes its own.
 */
export function cpio(members: readonly CpioMember[]): Buffer {
  const folders = new Set(
    members.flatMap(({ path }) =>
      path
        .split('/')
        .slice(0, -1)
        .map((_, index, parts) => parts.slice(0, index + 1).join('/')),
    ),
  )
  const entries = [
    ...[...folders].map((path) => ({ path, mode: 0o040755, bytes: new Uint8Array() })),
    ...members.map((member) => ({ ...member, mode: 0o100000 | member.mode })),
  ].sort((a, b) => (a.path < b.path ? -1 : 1))
  return Buffer.concat([
    ...entries.flatMap(({ path, mode, bytes }, inode) => record(path, mode, bytes, inode)),
    ...record('TRAILER!!!', 0, new Uint8Array(), 0),
  ])
}

function record(path: string, mode: number, bytes: Uint8Array, inode: number): Uint8Array[] {
  const name = Buffer.from(`${path}\0`)
  const fields = [inode, mode, 0, 0, 1, 0, bytes.length, 0, 0, 0, 0, name.length, 0]
  const header = Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`)
  return [padded(Buffer.concat([header, name])), padded(bytes)]
}

/** Everything begins at a multiple of four. */
function padded(bytes: Uint8Array): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)])
}
