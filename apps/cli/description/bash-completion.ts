import { flatCommands, type DescribedCommand, type DescribedValue } from './command-tree.js'
import { shellQuoted, shellWords } from './shell-words.js'

/** Takes the words of the line, which commands they name and what the last one begins. */
const COMPLETE = `_ironstage() {
  local cur=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} at=ironstage word REPLY i
  local IFS=$' \\t\\n'
  # bash cuts --option=value at the sign.
  if [ "$cur" = = ]; then
    cur=
  elif [ "$before" = = ]; then
    before=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    _ironstage_words "$at"
    case " $REPLY " in *" $word "*) case $word in -*) ;; *) at="$at $word" ;; esac ;; esac
  done
  COMPREPLY=()
  case $cur in
  -*) ;;
  *)
    _ironstage_value "$at $before"
    case $REPLY in
    '') ;;
    file | folder)
      compopt -o filenames 2>/dev/null
      IFS=$'\\n'
      if [ "$REPLY" = file ]; then COMPREPLY=($(compgen -f -- "$cur")); else COMPREPLY=($(compgen -d -- "$cur")); fi
      return
      ;;
    text) return ;;
    *)
      COMPREPLY=($(compgen -W "\${REPLY#words }" -- "$cur"))
      return
      ;;
    esac
    ;;
  esac
  _ironstage_words "$at"
  # Options only where one is begun: the words of commands, or the operand, come first.
  local words=
  for word in $REPLY; do
    case $cur:$word in
    -*:-*) words="$words $word" ;;
    -*:* | *:-*) ;;
    *) words="$words $word" ;;
    esac
  done
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  else
    case $cur in -*) return ;; esac
    compopt -o filenames 2>/dev/null
    IFS=$'\\n'
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
`

/**
 * The completion of bash, a script that asks nothing of the program: words of commands, options, values that are known,
 * files and folders. It runs under bash 3.2 too, macOS's.
 */
export function bashCompletion(program: DescribedCommand): string {
  const commands = flatCommands(program)
  return `# Completion of ironstage for bash: source <(ironstage completion bash)

_ironstage_words() {
  case $1 in
${commands.map(wordsCase).join('\n')}
  *) REPLY= ;;
  esac
}

_ironstage_value() {
  case $1 in
${commands.flatMap(valueCases).join('\n')}
  *) REPLY= ;;
  esac
}

${COMPLETE}
complete -F _ironstage ironstage
`
}

const wordsCase = (command: DescribedCommand): string =>
  `  ${shellQuoted(command.path.join(' '))}) REPLY=${shellQuoted(shellWords(command).join(' '))} ;;`

function valueCases({ path, options }: DescribedCommand): string[] {
  return options.flatMap(({ flag, short, value }) => {
    if (value === undefined) return []
    const patterns = [flag, short].flatMap((one) => (one === undefined ? [] : shellQuoted([...path, one].join(' '))))
    return [`  ${patterns.join(' | ')}) REPLY=${shellQuoted(replyOf(value))} ;;`]
  })
}

const replyOf = ({ kind, words }: DescribedValue): string => [kind, ...words].join(' ')
