/** Changes of a kernel command line, applied in this order. */
export interface KargsEdit {
  delete?: readonly string[]
  append?: readonly string[]
}

/**
 * Edits a space-separated command line as coreos-installer does. A deletion removes every whole-word match, may span
 * words, and needs no match; appended arguments go to the end, duplicates included. There is no quoting.
 */
export function editKargs(line: string, edit: KargsEdit): string {
  let padded = ` ${line} `
  for (const argument of edit.delete ?? []) {
    const target = ` ${argument.trim()} `
    // Adjacent matches share a space, so replace until none is left.
    while (target.trim() !== '' && padded.includes(target)) padded = padded.replaceAll(target, () => ' ')
  }
  return [padded.trim(), ...(edit.append ?? []).map((argument) => argument.trim())]
    .filter((part) => part !== '')
    .join(' ')
}

const PLATFORM_ARGUMENT = 'ignition.platform.id'

/** Replaces `ignition.platform.id=metal`; undefined when the line has none. */
export function setPlatform(line: string, platform: string): string | undefined {
  const padded = ` ${line} `
  const changed = padded.replace(` ${PLATFORM_ARGUMENT}=metal `, () => ` ${PLATFORM_ARGUMENT}=${platform} `)
  return changed === padded ? undefined : changed.trim()
}
