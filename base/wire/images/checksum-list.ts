/** Hexadecimal digits of MD5, SHA-256 and SHA-512, in the order in which a line is searched for them. */
const DIGEST_LENGTHS = [32, 64, 128]

/** A digest in a list of checksums, or the reason why there is none. */
export type ListedDigest =
  | { readonly digest: string }
  | { readonly problem: 'empty' }
  | { readonly problem: 'no digest'; readonly line: string }
  | { readonly problem: 'no name'; readonly name: string }

/**
 * Finds the digest of an image in a file of checksums: `DIGEST  NAME`, `DIGEST *NAME`, `SHA256 (NAME) = DIGEST`, or a digest
 * alone. The agent and the conductor read them in the same way (ironic-python-agent extensions/standby.py `_fetch_checksum`,
 * ironic 39.0.0 common/checksum_utils.py `get_checksum_from_url`).
 *
 * @param image URL of the image: the last part of its path stands in the file
 */
export function findListedDigest(text: string, image: string): ListedDigest {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const [only] = lines
  if (only === undefined) return { problem: 'empty' }
  if (lines.length === 1 && !only.includes(' ')) {
    const isDigest = DIGEST_LENGTHS.includes(only.length) && /^[0-9a-f]+$/i.test(only)
    return isDigest ? { digest: only.toLowerCase() } : { problem: 'no digest', line: only }
  }
  const name = new URL(image).pathname.split('/').at(-1)!
  for (const line of lines) {
    if (line.startsWith('#') || !isAbout(line, name)) continue
    const digest = digestAtEnds(line)
    if (digest !== undefined) return { digest: digest.toLowerCase() }
  }
  return { problem: 'no name', name }
}

/** True for a line that ends with the name, or has it in parentheses. */
function isAbout(line: string, name: string): boolean {
  const words = line.split(/\s+/)
  return (
    words.includes(`(${name})`) || line.endsWith(` ${name}`) || words.at(-1) === name || words.at(-1) === `*${name}`
  )
}

function digestAtEnds(line: string): string | undefined {
  const words = line.split(/\s+/)
  const isDigest = (word: string, length: number) => word.length === length && /^[0-9a-f]+$/i.test(word)
  for (const length of DIGEST_LENGTHS) {
    const found = [words[0]!, words.at(-1)!].find((word) => isDigest(word, length))
    if (found !== undefined) return found
  }
  return undefined
}
