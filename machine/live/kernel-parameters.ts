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

/**
 * True if the command line starts an agent of Ironic's own ramdisk: it names an Ironic, and has no arguments of CoreOS. The
 * contents of such a ramdisk need not be looked at.
 */
export function namesIronic(line: string): boolean {
  const names = Object.keys(kernelParameters(line))
  const isCoreos = names.some((name) => name.startsWith('coreos.') || name.startsWith('ignition.'))
  return !isCoreos && names.some((name) => name === 'ipa-api-url' || name === 'ipa-inspection-callback-url')
}
