import { addAbortSignal } from 'node:stream'
import type { Environment } from '../environment.js'
import { usageError } from '../usage-error.js'

/** More than any config, manifest or metadata has, in bytes. */
const MAX_INPUT_BYTES = 256 * 2 ** 20

/**
 * All of standard input.
 *
 * @throws the signal's reason when the command is asked to stop; UserError (usage) for endless input
 */
export async function readStandardInput({ stdin, stopped }: Pick<Environment, 'stdin' | 'stopped'>): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of addAbortSignal(stopped, stdin)) {
      const bytes = Buffer.from(part as Uint8Array)
      size += bytes.length
      if (size > MAX_INPUT_BYTES)
        throw usageError(
          `standard input has more than ${MAX_INPUT_BYTES / 2 ** 20} MiB`,
          'give a file that this command can read',
          'standard-input',
        )
      parts.push(bytes)
    }
  } catch (error) {
    stopped.throwIfAborted()
    throw error
  }
  return Buffer.concat(parts)
}

/** Resolves when standard input has ended or broken; drops what comes before that. */
export function standardInputEnds({ stdin, stopped }: Pick<Environment, 'stdin' | 'stopped'>): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ['end', 'close', 'error']) stdin.once(event, () => resolve())
    // An open standard input would keep the process from ending.
    stopped.addEventListener('abort', () => stdin.pause(), { once: true })
    stdin.resume()
  })
}
