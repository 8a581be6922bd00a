/** Reads a stream to its end and drops its bytes. */
export async function drainStream(stream: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _ of stream);
  } catch {
    // The link is lost, which the channel's exit reports.
  }
}

/** Longest result, in characters. */
const MAX_RESULT_LENGTH = 2000

/** Reads a stream to its end; returns its last characters, for messages. */
export async function lastWords(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  try {
    for await (const bytes of stream) text = (text + Buffer.from(bytes).toString('utf8')).slice(-MAX_RESULT_LENGTH)
  } catch {
    // The link is lost, which the channel's exit reports.
  }
  return text.trim()
}
