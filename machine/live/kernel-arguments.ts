import { kernelWords } from '../../coreos/index.js'

/** A kernel's command line as parameters: of a key that comes twice the last value counts, one without a value has none. */
export function kernelParameters(line: string): Record<string, string> {
  const parameters: Record<string, string> = {}
  for (const word of kernelWords(line)) {
    const at = word.indexOf('=')
    if (at < 0) parameters[word] = ''
    else parameters[word.slice(0, at)] = word.slice(at + 1)
  }
  return parameters
}
