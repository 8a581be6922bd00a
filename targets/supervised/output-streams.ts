/** Reads a stream to its end and drops what it brings. */
export async function drained(stream: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _ of stream);
  } catch {
    // The link is lost, which the channel's exit reports.
  }
}

/** Characters. */
const LAST = 2000

/** The end of what a stream brings, for messages. */
export async function lastWords(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  try {
    for await (const bytes of stream) text = (text + Buffer.from(bytes).toString('utf8')).slice(-LAST)
  } catch {
    // The link is lost, which the channel's exit reports.
  }
  return text.trim()
}
