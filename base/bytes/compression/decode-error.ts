import type { ByteReader } from '../byte-reader.js'
import { FormatError } from '../format-error.js'

/** Compressed bytes cannot be decompressed. The message is coreos-installer's sentence. */
export class DecodeError extends FormatError {
  override name = 'DecodeError'

  constructor(message: string, { cause }: { cause?: unknown } = {}) {
    super(message, cause, 'compressed-data')
  }
}

export const TRAILING_DATA = 'found trailing data after compressed stream'

/**
 * Reads at the end `times` times, as often as coreos-installer does: it repeats its last progress line each time.
 *
 * @throws DecodeError when there is more
 */
export async function expectEnd(input: ByteReader, times: number): Promise<void> {
  for (let time = 0; time < times; time++) if (await input.next()) throw new DecodeError(TRAILING_DATA)
}
