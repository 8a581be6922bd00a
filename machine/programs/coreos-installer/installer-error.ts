import { failureBlock, systemSentence } from '../../../coreos/index.js'

/** A failure of coreos-installer; with causes it reads as a chain, outermost first. */
export class Failure extends Error {
  override name = 'Failure'

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
  }
}

/** Runs `work`, and wraps its failure in one with the text `doing`. */
export async function duringInstall<T>(doing: string, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new Failure(doing, cause)
  }
}

/** The error block that coreos-installer prints. */
export const formatFailure = (error: unknown): string => failureBlock(messages(error))

/** True if an error is a defect of this code, which must not pass for a failure of the simulated program. */
export function isDefect(error: unknown): boolean {
  let e = error
  while (e instanceof Failure && e.cause !== undefined) e = e.cause
  return e instanceof TypeError || e instanceof RangeError || e instanceof ReferenceError
}

function messages(error: unknown): string[] {
  const chain: string[] = []
  for (let e = error; e !== undefined && e !== null; e = e instanceof Error ? e.cause : undefined) {
    const system = e instanceof Error && 'code' in e ? systemSentence(String(e.code)) : undefined
    chain.push(system ?? (e instanceof Error ? e.message : String(e)))
    // The cause of an error with an errno, or of a decoder, is of this code and not the tool's.
    if (!(e instanceof Failure)) break
  }
  return chain
}
