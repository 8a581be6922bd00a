/** A body in whole, or `null` when it has more than `most` bytes; then no more than that has been read. */
export async function readUpTo(most: number, body: AsyncIterable<Uint8Array>): Promise<Buffer | null> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > most) return null
    parts.push(part)
  }
  return Buffer.concat(parts)
}
