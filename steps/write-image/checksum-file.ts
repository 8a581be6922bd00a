import { findListedDigest, type ListedDigest } from '../../base/wire/index.js'
import { StepError } from '../sdk/step.js'

/**
 * Finds the digest of an image in a file of checksums.
 *
 * @param source URL of the file, for messages
 * @param image URL of the image: the last part of its path stands in the file
 * @throws StepError `ImageDownloadError`
 */
export function digestInFile(text: string, source: string, image: string): string {
  const found = findListedDigest(text, image)
  if ('digest' in found) return found.digest
  throw new StepError(`Download of image ${source} failed: ${listProblem(found)}`, { type: 'ImageDownloadError' })
}

/** The agent's words. */
function listProblem(found: Exclude<ListedDigest, { digest: string }>): string {
  switch (found.problem) {
    case 'empty':
      return 'Empty checksum file'
    case 'no digest':
      return `Invalid checksum file (No valid checksum found) ['${found.line}']`
    case 'no name':
      return `Checksum file does not contain name ${found.name}`
  }
}
