import type { Command, Exit, Target } from '../steps/index.js'

/** A short program's whole output, both streams together, and how it ended. */
export async function runToEnd(
  target: Target,
  command: Command,
  signal: AbortSignal,
): Promise<{ exit: Exit; text: string }> {
  const run = await unlessAborted(target.executor.start(command), signal)
  const collect = async (): Promise<string> => {
    const chunks: Uint8Array[] = []
    for await (const { bytes } of run.output) chunks.push(bytes)
    return Buffer.concat(chunks).toString('utf8')
  }
  const [exit, text] = await unlessAborted(Promise.all([run.exit, collect()]), signal)
  return { exit, text }
}

/** A target that was switched off may never answer, so whoever waits for it must stop when the agent does. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    const aborted = () => reject(signal.reason as Error)
    signal.addEventListener('abort', aborted, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted))
  })
}
