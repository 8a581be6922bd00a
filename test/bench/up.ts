import { UpProcess } from '../kit/commands/up-process.js'

/** Runs `ironstage up` with so many machines, each with a node, for as long as it is used. */
export async function withUp<T>(
  nodes: number,
  argv: readonly string[],
  use: (url: string, up: UpProcess) => Promise<T>,
): Promise<T> {
  const up = new UpProcess(['--port', '0', '--nodes', String(nodes), ...argv])
  try {
    return await use(await up.ready, up)
  } finally {
    await up.stop()
  }
}
