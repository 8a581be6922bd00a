import { flatCommands, type DescribedCommand, type DescribedOption, type DescribedValue } from './command-tree.js'
import { shellQuoted, shortText } from './shell-words.js'

/** The completion of fish, with descriptions; it asks nothing of the program. */
export function fishCompletion(program: DescribedCommand): string {
  const commands = flatCommands(program)
  return `# Completion of ironstage for fish: ironstage completion fish | source

# True where the words so far are those of the command that is named.
function __ironstage_at
    set -l at ironstage
    for word in (commandline -opc)[2..]
        if contains -- "$at $word" $__ironstage_commands
            set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end

set -g __ironstage_commands ${commands.map(({ path }) => fishQuoted(path.join(' '))).join(' ')}

${commands.flatMap(linesOf).join('\n')}
`
}

function linesOf(command: DescribedCommand): string[] {
  const at = `complete -c ironstage -n ${fishQuoted(`__ironstage_at ${shellQuoted(command.path.join(' '))}`)}`
  return [
    ...command.below.map((one) => `${at} -f -a ${one.path.at(-1)} -d ${fishQuoted(one.description)}`),
    ...command.options.map((option) => `${at} ${flagsOf(option)} -d ${fishQuoted(shortText(option.description))}`),
    `${at} -l help -d 'show the help'`,
  ]
}

function flagsOf({ flag, short, value }: DescribedOption): string {
  const long = flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`
  const both = short === undefined ? long : `${long} -s ${short.slice(1)}`
  return value === undefined ? both : `${both} ${valueFlags(value)}`
}

function valueFlags({ kind, words }: DescribedValue): string {
  if (kind === 'words') return `-x -a ${fishQuoted(words.join(' '))}`
  if (kind === 'file') return '-r -F'
  return kind === 'folder' ? `-x -a '(__fish_complete_directories)'` : '-x'
}

/** Between single quotation marks fish reads these two with a backslash. */
const fishQuoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`
