import { posix } from 'node:path'
import { defined, isObject } from '../../base/runtime/index.js'
import type { TargetCommand, Executor, OutputChunk, RunningCommand } from '../executor.js'

/** Devices that a listing may show. */
export interface Visible {
  /** Kernel names of the policy's disks, and of devices that are built on them alone. */
  names: ReadonlySet<string>
  /** Loop devices that stand in for a disk, with the serial numbers to show. */
  standIns: ReadonlyMap<string, string>
}

/**
 * An executor whose `lsblk` lists visible disks only, so that a step cannot choose another. A listing in JSON is filtered;
 * any other `lsblk` is called for these devices alone.
 */
export function hidingDisks(executor: Executor, visible: () => Promise<Visible>): Executor {
  return {
    files: executor.files,
    attach: (id, offset) => executor.attach(id, offset),
    start: async (command) => {
      if (posix.basename(command.argv[0]) !== 'lsblk') return executor.start(command)
      if (!asksForJson(command.argv)) return executor.start(narrowed(command, await visible()))
      const [run, seen] = await Promise.all([executor.start(command), visible()])
      return cutDown(run, seen)
    },
  }
}

const asksForJson = (argv: readonly string[]) => argv.some((word) => word === '--json' || /^-[A-Za-z]*J/.test(word))

/** Without visible disks it names a device that is never a disk, since lsblk without devices lists all. */
function narrowed(command: TargetCommand, { names }: Visible): TargetCommand {
  if (command.argv.some((word) => word.startsWith('/dev/'))) return command
  const devices = names.size === 0 ? ['/dev/null'] : [...names].map((name) => `/dev/${name.replaceAll('!', '/')}`)
  return { ...command, argv: [...command.argv, '--', ...devices] }
}

function cutDown(run: RunningCommand, seen: Visible): RunningCommand {
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

interface VisibleDiskRow {
  [column: string]: unknown
  children?: VisibleDiskRow[]
}

/** A listing without the hidden devices; empty when it cannot be parsed. */
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

function visibleRows(row: VisibleDiskRow, seen: Visible): VisibleDiskRow[] {
  const named = row['kname'] ?? row['name'] ?? row['path']
  const name = typeof named === 'string' ? posix.basename(named) : ''
  const inside = (row.children ?? []).flatMap((child) => visibleRows(child, seen))
  if (!seen.names.has(name)) return inside
  const serial = seen.standIns.get(name)
  const { children: _, ...columns } = row
  return [
    {
      ...columns,
      // An agent ignores loop devices; this one stands for a disk.
      ...(serial === undefined ? {} : standIn(columns, serial)),
      ...defined({ children: row.children ? inside : undefined }),
    },
  ]
}

const standIn = (columns: VisibleDiskRow, serial: string): VisibleDiskRow =>
  defined({
    type: 'type' in columns ? 'disk' : undefined,
    serial: 'serial' in columns ? serial : undefined,
    model: 'model' in columns ? 'loop' : undefined,
  })

const isRow = (value: unknown): value is VisibleDiskRow => isObject(value)
