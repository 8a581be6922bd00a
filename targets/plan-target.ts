import { defined } from '../base/runtime/index.js'
import type { TargetCommand, Executor, TargetFiles, RunningCommand, RunId, Target } from './executor.js'

/** A change that a step would have made. */
export type PlannedWrite =
  | { kind: 'run'; argv: TargetCommand['argv']; stdin: Uint8Array | null }
  | { kind: 'write'; path: string; bytes: Uint8Array; mode: number | null }
  | { kind: 'remove'; path: string }

/**
 * A target on which a step can be tried without harm: commands that read run on the real target; commands that write are
 * only listed, and succeed with empty output. Reads of planned files return their planned bytes. Everything else stays as it
 * is, so after its first write a step may see another state than a real run would.
 *
 * @param onWrite called for each write, in order, instead of writing
 */
export function planTarget(target: Target, onWrite: (write: PlannedWrite) => void): Target {
  return {
    name: target.name,
    disks: target.disks,
    clock: target.clock,
    planned: true,
    ...defined({ scratch: target.scratch, readsPartitions: target.readsPartitions }),
    hostPath: (path) => target.hostPath(path),
    has: (capability) => target.has(capability),
    executor: planExecutor(target.executor, onWrite),
  }
}

function planExecutor(real: Executor, onWrite: (write: PlannedWrite) => void): Executor {
  const plannedRuns = new Set<RunId>()
  return {
    files: planFiles(real.files, onWrite),
    start: async (command) => {
      if (command.effect === 'reads') return real.start(command)
      const id = command.id ?? `planned-${plannedRuns.size + 1}`
      if (!plannedRuns.has(id)) onWrite({ kind: 'run', argv: command.argv, stdin: command.stdin ?? null })
      plannedRuns.add(id)
      return makeSucceededRun(id)
    },
    attach: async (id, offset) => (plannedRuns.has(id) ? makeSucceededRun(id) : real.attach(id, offset)),
  }
}

const makeSucceededRun = (id: RunId): RunningCommand => ({
  id,
  output: (async function* () {})(),
  exit: Promise.resolve({ kind: 'exited', code: 0 }),
  cancel: () => Promise.resolve(),
})

function planFiles(real: TargetFiles, onWrite: (write: PlannedWrite) => void): TargetFiles {
  /** Planned bytes of each written file; null for a removed one. */
  const planned = new Map<string, Uint8Array | null>()
  const below = (folder: string) => {
    const start = folder.endsWith('/') ? folder : `${folder}/`
    const inside = [...planned].filter(([path]) => path.startsWith(start))
    return inside.map(([path, bytes]) => {
      const [name = '', ...deeper] = path.slice(start.length).split('/')
      return { name, there: bytes !== null, direct: deeper.length === 0 }
    })
  }
  return {
    read: async (path) => {
      const bytes = planned.get(path)
      if (bytes === null) throw Object.assign(new Error(`ENOENT: no such file: ${path}`), { code: 'ENOENT' })
      return bytes ?? real.read(path)
    },
    write: async (path, bytes, options) => {
      planned.set(path, bytes)
      onWrite({ kind: 'write', path, bytes, mode: options?.mode ?? null })
    },
    remove: async (path) => {
      const there = planned.get(path) ?? ((await real.exists(path)) || null)
      if (planned.get(path) === null || there === null) return
      planned.set(path, null)
      onWrite({ kind: 'remove', path })
    },
    exists: async (path) => {
      const bytes = planned.get(path)
      if (bytes !== undefined) return bytes !== null
      return below(path).some(({ there }) => there) || (await real.exists(path))
    },
    list: async (path) => {
      const changes = below(path)
      const added = changes.filter(({ there }) => there).map(({ name }) => name)
      const gone = new Set(changes.filter(({ there, direct }) => direct && !there).map(({ name }) => name))
      const names = added.length > 0 && !(await real.exists(path)) ? [] : await real.list(path)
      return [...new Set([...names.filter((name) => !gone.has(name)), ...added])].sort()
    },
  }
}
