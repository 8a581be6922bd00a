import { kernelWords } from '../../coreos/index.js'

/** Parameters of a kernel's command line. The last value of a repeated key counts; a key without `=` has an empty value. */
export function kernelParameters(line: string): Record<string, string> {
  const parameters: Record<string, string> = {}
  for (const word of kernelWords(line)) {
    const at = word.indexOf('=')
    if (at < 0) parameters[word] = ''
    else parameters[word.slice(0, at)] = word.slice(at + 1)
  }
  return parameters
}
