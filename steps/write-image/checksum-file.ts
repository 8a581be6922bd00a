import { StepError } from '../sdk/step.js'

/** Hexadecimal digits of MD5, SHA-256 and SHA-512, in the order in which a line is searched for them. */
const DIGEST_LENGTHS = [32, 64, 128]

/**
 * Finds the digest of an image in a file of checksums: `DIGEST  NAME`, `DIGEST *NAME`, `SHA256 (NAME) = DIGEST`, or a digest
 * alone (ironic-python-agent extensions/standby.py `_fetch_checksum`).
 *
 * @param source URL of the file, for messages
 * @param image URL of the image: the last part of its path stands in the file
 * @throws StepError `ImageDownloadError`
 */
export function digestInFile(text: string, source: string, image: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  if (lines.length === 0) throw downloadError(source, 'Empty checksum file')
  if (lines.length === 1 && !lines[0]!.includes(' ')) {
    const [only] = lines
    if (DIGEST_LENGTHS.includes(only!.length) && /^[0-9a-f]+$/i.test(only!)) return only!.toLowerCase()
    throw downloadError(source, `Invalid checksum file (No valid checksum found) ['${only}']`)
  }
  const name = new URL(image).pathname.split('/').at(-1)!
  for (const line of lines) {
    if (line.startsWith('#') || !isAbout(line, name)) continue
    const digest = digestAtEnds(line)
    if (digest !== undefined) return digest.toLowerCase()
  }
  throw downloadError(source, `Checksum file does not contain name ${name}`)
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

const downloadError = (source: string, why: string): StepError =>
  new StepError(`Download of image ${source} failed: ${why}`, { type: 'ImageDownloadError' })
