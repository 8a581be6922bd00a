import { VirtualClock, type Clock } from '../../base/runtime/index.js'
import type { TargetCapability, TargetCommand, CommandExit, OutputChunk, Target } from '../../targets/index.js'

/** The result of a scripted program. Text is its stdout. */
export type Answer = string | { stdout?: string; stderr?: string; code?: number; exit?: CommandExit }
/** By the beginning of the command line; the longest that fits is taken. */
export type Script = Record<string, Answer | ((argv: readonly string[]) => Answer | Promise<Answer>)>

export interface ScriptedTarget extends Target {
  /** Command lines in the order in which they were started. */
  readonly commands: string[]
  readonly tree: Map<string, { bytes: Uint8Array; mode: number }>
  readonly clock: Clock & VirtualClock
}

export interface ScriptedOptions {
  files?: Record<string, string>
  capabilities?: readonly TargetCapability[]
  /** Names that may be written; all without. */
  writable?: readonly string[]
}

const ALL: readonly TargetCapability[] = [
  'power',
  'reboot',
  'efi-variables',
  'hostname',
  'software-raid',
  'burn-in',
  'cleaning',
]

/**
 * A target whose programs are a table, for tests of what a step does with what it is told. A program that the table
 * lacks is not found, as on any target.
 */
export function scriptedTarget(script: Script, options: ScriptedOptions = {}): ScriptedTarget {
  const { files = {}, capabilities = ALL, writable } = options
  const clock = new VirtualClock()
  const commands: string[] = []
  const tree: ScriptedTarget['tree'] = new Map(
    Object.entries(files).map(([path, text]) => [path, { bytes: new TextEncoder().encode(text), mode: 0o644 }]),
  )
  const missing = (path: string) => Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' })
  return {
    name: 'scripted',
    commands,
    tree,
    clock,
    hostPath: (path) => path,
    has: (capability) => capabilities.includes(capability),
    disks: { mayWrite: ({ name }) => writable === undefined || writable.includes(name) },
    executor: {
      start: async ({ argv }: TargetCommand) => {
        const line = argv.join(' ')
        commands.push(line)
        const key = Object.keys(script)
          .filter((start) => line === start || line.startsWith(`${start} `))
          .sort((a, b) => b.length - a.length)[0]
        const entry = key === undefined ? undefined : script[key]
        const scripted = typeof entry === 'function' ? await entry(argv) : entry
        const answer =
          scripted === undefined
            ? { code: 127, stderr: `${argv[0]}: command not found\n` }
            : typeof scripted === 'string'
              ? { stdout: scripted }
              : scripted
        return {
          id: String(commands.length),
          output: chunks(answer),
          exit: Promise.resolve(answer.exit ?? { kind: 'exited', code: answer.code ?? 0 }),
          cancel: () => Promise.resolve(),
        }
      },
      attach: () => Promise.reject(new Error('a scripted target forgets its runs')),
      files: {
        read: async (path) => {
          const file = tree.get(path)
          if (!file) throw missing(path)
          return Promise.resolve(file.bytes)
        },
        write: async (path, bytes, { mode = 0o644 } = {}) => {
          tree.set(path, { bytes, mode })
          return Promise.resolve()
        },
        remove: async (path) => {
          tree.delete(path)
          return Promise.resolve()
        },
        exists: (path) =>
          Promise.resolve([...tree.keys()].some((name) => name === path || name.startsWith(`${path}/`))),
        list: async (path) => {
          const names = [...tree.keys()].filter((name) => name.startsWith(`${path}/`))
          if (names.length === 0) throw missing(path)
          return Promise.resolve([...new Set(names.map((name) => name.slice(path.length + 1).split('/')[0]!))].sort())
        },
      },
    },
  }
}

/** Output comes in pieces that know nothing of lines. */
async function* chunks({
  stdout = '',
  stderr = '',
}: {
  stdout?: string
  stderr?: string
}): AsyncGenerator<OutputChunk> {
  for (const [stream, text] of [['stdout', stdout] as const, ['stderr', stderr] as const])
    for (let at = 0; at < text.length; at += 7) {
      await Promise.resolve()
      yield { stream, bytes: new TextEncoder().encode(text.slice(at, at + 7)) }
    }
}
