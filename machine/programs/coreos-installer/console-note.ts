import { parseConsole } from './console.js'

const WIDTH = 80

/**
 * Advice for somebody who sets consoles by kernel argument only, which leaves GRUB's alone; undefined when there is
 * nothing to advise. In coreos-installer's layout (blank lines around, 80 columns), partly in our words.
 */
export function consoleNote(append: readonly string[]): string | undefined {
  const given = append.filter((argument) => argument.startsWith('console='))
  const specs = given.map((argument) => argument.slice('console='.length))
  if (specs.length === 0 || specs.some((spec) => !parseConsole(spec))) return undefined
  const instead = given.map((argument) => `--append-karg ${argument}`)
  const note =
    `Note: consider using "${specs.map((spec) => `--console ${spec}`).join(' ')}" instead of ` +
    `"${instead.join(' ')}" to configure both kernel and bootloader consoles.`
  return `\n${wrap(note)}\n`
}

function wrap(text: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}
