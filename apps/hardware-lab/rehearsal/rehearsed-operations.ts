import type { ServerChannel } from 'ssh2'
import type { Machine } from '../../../machine/index.js'
import type { TargetCommand, CommandExit, OutputChunk, RunningCommand } from '../../../targets/index.js'

/** Line by which a rehearsal works on a simulated live system: its input is one {@link MachineOperation}. */
export const OPERATION_LINE = 'ironstage-rehearsal'

export type MachineOperation =
  | { do: 'start'; command: Omit<TargetCommand, 'stdin'> & { stdin?: string } }
  | { do: 'attach'; id: string; offset: number }
  | { do: 'cancel'; id: string }
  | { do: 'read' | 'remove' | 'exists' | 'list'; path: string }
  | { do: 'write'; path: string; bytes: string; mode?: number }

/** Lines of an answer. */
export type OperationLine =
  | { started: string }
  | { stream: OutputChunk['stream']; bytes: string }
  | { exit: CommandExit }
  | { value: unknown }
  | { error: string; code?: string }

/** Carries an operation out on the machine, and writes its answer, a JSON object a line. */
export async function runOperation(
  machine: Machine,
  operation: MachineOperation,
  channel: ServerChannel,
): Promise<void> {
  const say = (line: OperationLine) => void channel.write(`${JSON.stringify(line)}\n`)
  const { executor } = machine
  try {
    if (operation.do === 'start') {
      const { stdin, ...command } = operation.command
      const bytes = stdin === undefined ? {} : { stdin: Buffer.from(stdin, 'base64') }
      await followRun(await executor.start({ ...command, ...bytes }), say)
    } else if (operation.do === 'attach') await followRun(await executor.attach(operation.id, operation.offset), say)
    else if (operation.do === 'cancel') {
      await (await executor.attach(operation.id, 0)).cancel()
      say({ value: null })
    } else say({ value: (await fileValue(machine, operation)) ?? null })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? { code: String(error.code) } : {}
    say({ error: error instanceof Error ? error.message : String(error), ...code })
  }
  channel.exit(0)
  channel.end()
}

async function followRun(run: RunningCommand, say: (line: OperationLine) => void): Promise<void> {
  say({ started: run.id })
  for await (const { stream, bytes } of run.output) say({ stream, bytes: Buffer.from(bytes).toString('base64') })
  say({ exit: await run.exit })
}

async function fileValue(
  { executor: { files } }: Machine,
  operation: Extract<MachineOperation, { path: string }>,
): Promise<unknown> {
  const { path } = operation
  switch (operation.do) {
    case 'read':
      return Buffer.from(await files.read(path)).toString('base64')
    case 'exists':
      return files.exists(path)
    case 'list':
      return files.list(path)
    case 'remove':
      return files.remove(path)
    case 'write':
      return files.write(
        path,
        Buffer.from(operation.bytes, 'base64'),
        operation.mode === undefined ? {} : { mode: operation.mode },
      )
  }
}
