import { LiveImageError } from '../live-image-error.js'

/** Changes of a kernel command line, applied in this order. */
export interface LiveKargsEdit {
  /** Every match goes; one without a match is fine, and one may span several arguments. */
  delete?: readonly string[]
  /** Goes to the end, whether it is there already or not. */
  append?: readonly string[]
  /** `KEY=OLD=NEW`: every `KEY=OLD` becomes `KEY=NEW`. */
  replace?: readonly string[]
}

/**
 * Edits a space-separated command line as coreos-installer edits that of a live image; nothing is quoted.
 *
 * @throws LiveImageError for a replacement of another form
 */
export function editLiveKargs(line: string, edit: LiveKargsEdit): string {
  let padded = ` ${line} `
  const replaceAll = (from: string, to: string) => {
    // Neighbouring matches share a space: once more until nothing is left.
    while (from.trim() !== '' && from !== to && padded.includes(from)) {
      const next = padded.replaceAll(from, () => to)
      if (next.includes(from) && to.includes(from)) return
      padded = next
    }
  }
  for (const argument of edit.delete ?? []) replaceAll(` ${argument.trim()} `, ' ')
  padded = ` ${[padded.trim(), ...(edit.append ?? []).map((one) => one.trim())].filter((part) => part !== '').join(' ')} `
  for (const given of edit.replace ?? []) {
    const [, key, before, after] = /^([^=]+)=([^=]+)=([^=]+)$/.exec(given) ?? []
    if (key === undefined) throw new LiveImageError('Wrong input, format should be: KEY=OLD=NEW')
    replaceAll(` ${key}=${before} `, ` ${key}=${after} `)
  }
  return padded.trim()
}
