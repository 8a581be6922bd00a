import { posix } from 'node:path'
import type { Command, Executor, OutputChunk, Run } from '../executor.js'

/** Disks as a listing may show them. */
export interface Visible {
  /** Kernel names of the policy's disks, and of all that stands on them alone. */
  names: ReadonlySet<string>
  /** Loop devices that stand in for a disk, with the serial number that they are given. */
  standIns: ReadonlyMap<string, string>
}

/**
 * An executor whose `lsblk` knows the visible disks only: what a step cannot see it cannot choose. A listing in JSON is
 * cut down; any other is asked of these devices alone.
 */
export function hiding(executor: Executor, visible: () => Promise<Visible>): Executor {
  return {
    files: executor.files,
    attach: (id, offset) => executor.attach(id, offset),
    start: async (command) => {
      if (posix.basename(command.argv[0]) !== 'lsblk') return executor.start(command)
      const seen = await visible()
      if (isJson(command.argv)) return cutDown(await executor.start(command), seen)
      return executor.start(narrowed(command, seen))
    },
  }
}

const isJson = (argv: readonly string[]) => argv.some((word) => word === '--json' || /^-[A-Za-z]*J/.test(word))

/** With nothing to show it is asked of a device that is never a disk, so that it does not list all. */
function narrowed(command: Command, { names }: Visible): Command {
  if (command.argv.some((word) => word.startsWith('/dev/'))) return command
  const devices = names.size === 0 ? ['/dev/null'] : [...names].map((name) => `/dev/${name.replaceAll('!', '/')}`)
  return { ...command, argv: [...command.argv, '--', ...devices] }
}

function cutDown(run: Run, seen: Visible): Run {
  const output = async function* (): AsyncGenerator<OutputChunk> {
    const listing: Uint8Array[] = []
    for await (const chunk of run.output)
      if (chunk.stream === 'stdout') listing.push(chunk.bytes)
      else yield chunk
    const text = Buffer.concat(listing).toString('utf8')
    if (text !== '') yield { stream: 'stdout', bytes: Buffer.from(visibleListing(text, seen)) }
  }
  return { id: run.id, output: output(), exit: run.exit, cancel: () => run.cancel() }
}

interface Row {
  [column: string]: unknown
  children?: Row[]
}

/** A listing without the hidden devices. What cannot be read is not shown at all. */
export function visibleListing(json: string, seen: Visible): string {
  let rows: unknown
  try {
    rows = (JSON.parse(json) as { blockdevices?: unknown } | null)?.blockdevices
  } catch {
    rows = undefined
  }
  const shown = Array.isArray(rows) ? rows.filter(isRow).flatMap((row) => visibleRows(row, seen)) : []
  return `${JSON.stringify({ blockdevices: shown }, null, 3)}\n`
}

function visibleRows(row: Row, seen: Visible): Row[] {
  const named = row['kname'] ?? row['name'] ?? row['path']
  const name = typeof named === 'string' ? posix.basename(named) : ''
  const inside = (row.children ?? []).flatMap((child) => visibleRows(child, seen))
  if (!seen.names.has(name)) return inside
  const serial = seen.standIns.get(name)
  const { children: _, ...columns } = row
  return [
    {
      ...columns,
      // A loop device is no disk to any agent; here it stands for one.
      ...(serial === undefined ? {} : standIn(columns, serial)),
      ...(row.children ? { children: inside } : {}),
    },
  ]
}

const standIn = (columns: Row, serial: string): Row => ({
  ...('type' in columns ? { type: 'disk' } : {}),
  ...('serial' in columns ? { serial } : {}),
  ...('model' in columns ? { model: 'loop' } : {}),
})

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)
