import { LiveImageError } from '../live-image-error.js'

/** Changes to a kernel command line, applied in this order. */
export interface LiveKargsEdit {
  /** Removes every match. No match is fine, and a text may span several arguments. */
  delete?: readonly string[]
  /** Added at the end, also when the command line has it already. */
  append?: readonly string[]
  /** `KEY=OLD=NEW`: every `KEY=OLD` becomes `KEY=NEW`. */
  replace?: readonly string[]
}

/**
 * Edits a space-separated command line as coreos-installer does for a live image, without quoting.
 *
 * @throws LiveImageError for a replacement that is not `KEY=OLD=NEW`
 */
export function editLiveKargs(line: string, edit: LiveKargsEdit): string {
  let padded = ` ${line} `
  const replaceAll = (from: string, to: string) => {
    // Neighbouring matches share a space, so one pass misses every second one.
    while (from.trim() !== '' && from !== to && padded.includes(from)) {
      const next = padded.replaceAll(from, () => to)
      if (next.includes(from) && to.includes(from)) return
      padded = next
    }
  }
  for (const argument of edit.delete ?? []) replaceAll(` ${argument.trim()} `, ' ')
  padded = ` ${[padded.trim(), ...(edit.append ?? []).map((one) => one.trim())].filter((part) => part !== '').join(' ')} `
  for (const replacement of edit.replace ?? []) {
    const [, key, before, after] = /^([^=]+)=([^=]+)=([^=]+)$/.exec(replacement) ?? []
    if (key === undefined) throw new LiveImageError('Wrong input, format should be: KEY=OLD=NEW')
    replaceAll(` ${key}=${before} `, ` ${key}=${after} `)
  }
  return padded.trim()
}
