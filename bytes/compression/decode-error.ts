import type { ByteStream } from '../byte-stream.js'

/** The image's bytes cannot be had from its compressed bytes. The message is what coreos-installer says. */
export class DecodeError extends Error {
  override name = 'DecodeError'
}

export const TRAILING_DATA = 'found trailing data after compressed stream'

/**
 * Reads on until the end is seen `times` times, which is how often coreos-installer asks (its last progress line is
 * repeated each time).
 *
 * @throws DecodeError when there is more
 */
export async function expectEnd(input: ByteStream, times: number): Promise<void> {
  for (let time = 0; time < times; time++) if (await input.next()) throw new DecodeError(TRAILING_DATA)
}
