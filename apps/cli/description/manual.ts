import { flatCommands, type DescribedCommand } from './command-tree.js'

/** `man ironstage`: all commands on one page, in the language of man. */
export function manualPage(program: DescribedCommand, version: string): string {
  const [, ...commands] = flatCommands(program)
  return [
    `.TH IRONSTAGE 1 "" "ironstage ${version}" "User Commands"`,
    '.SH NAME',
    `ironstage \\- ${manText(program.description)}`,
    '.SH SYNOPSIS',
    '.B ironstage',
    '.I COMMAND',
    '[options]',
    '.SH DESCRIPTION',
    'An option is a flag, an environment variable, or a key in the YAML file that',
    '.B \\-\\-config',
    'names; the flag wins, then the variable, then the file.',
    '.SH COMMANDS',
    ...commands.flatMap(commandLines),
    '.SH EXIT STATUS',
    '0 for success, 1 for a failure, 2 for wrong usage.',
    '.SH SHELLS',
    '.B ironstage completion',
    'prints what completes these commands in bash, zsh and fish.',
    '',
  ].join('\n')
}

function commandLines({ path, description, usage, operands, options }: DescribedCommand): string[] {
  return [
    `.SS "${manText(path.join(' '))} ${manText(usage)}"`,
    manText(sentenceOf(description)),
    ...operands
      .filter(({ description: text }) => text !== '')
      .flatMap(({ name, description: text }) => ['.TP', `.I ${manText(name)}`, manText(text)]),
    ...options.flatMap(({ flag, short, value, description: text }) => [
      '.TP',
      `.B ${manText([short, flag].filter((one) => one !== undefined).join(', '))}${value === undefined ? '' : ` \\fI${manText(value.name)}\\fR`}`,
      manText(text),
    ]),
  ]
}

const sentenceOf = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`

/** Text that man reads as it is: no sign at the start of a line is a request, and a hyphen stays one. */
const manText = (text: string): string =>
  text
    .replace(/\\/g, '\\e')
    .replace(/-/g, '\\-')
    .replace(/"/g, '\\(dq')
    .replace(/^([.'])/, '\\&$1')
