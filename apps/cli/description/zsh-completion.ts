import { flatCommands, type DescribedCommand, type DescribedOption, type DescribedValue } from './command-tree.js'
import { shellQuoted, shortText } from './shell-words.js'

/** The completion of zsh, with descriptions; it asks nothing of the program. */
export function zshCompletion(program: DescribedCommand): string {
  return `#compdef ironstage
# Completion of ironstage for zsh: source <(ironstage completion zsh), after compinit; or a file _ironstage in fpath

_ironstage_below() {
  below=()
  case $1 in
${flatCommands(program)
  .filter(({ below }) => below.length > 0)
  .map(belowCase)
  .join('\n')}
  esac
}

_ironstage_options() {
  options=()
  case $1 in
${flatCommands(program).map(optionsCase).join('\n')}
  esac
}

_ironstage() {
  local at=ironstage word
  local -a below options
  local -i depth=1 i
  for ((i = 2; i < CURRENT; i++)); do
    _ironstage_below "$at"
    word=\${words[i]}
    if (( \${below[(I)$word:*]} )); then
      at="$at $word"
      depth=$i
    fi
  done
  _ironstage_below "$at"
  _ironstage_options "$at"
  # _arguments sees the command as the first word.
  words=("$at" "\${(@)words[depth + 1,-1]}")
  (( CURRENT -= depth - 1 ))
  if (( $#below && CURRENT == 2 )) && [[ $PREFIX != -* ]]; then
    _describe -t commands command below
  else
    _arguments -S : "\${options[@]}" '*:operand:_files'
  fi
}

if [[ $funcstack[1] == _ironstage ]]; then
  _ironstage "$@"
else
  compdef _ironstage ironstage
fi
`
}

const belowCase = ({ path, below }: DescribedCommand): string =>
  `  ${shellQuoted(path.join(' '))}) below=(\n${below
    .map((one) => `    ${shellQuoted(`${one.path.at(-1)}:${one.description}`)}`)
    .join('\n')}\n  ) ;;`

const optionsCase = ({ path, options }: DescribedCommand): string =>
  `  ${shellQuoted(path.join(' '))}) options=(\n${[...options.flatMap(optionSpecs), '--help[show the help]']
    .map((spec) => `    ${shellQuoted(spec)}`)
    .join('\n')}\n  ) ;;`

function optionSpecs({ flag, short, value, description, isRepeatable }: DescribedOption): string[] {
  const text = shortText(description).replace(/[[\]\\]/g, '\\$&')
  const shape = `[${text}]${value === undefined ? '' : `:${value.name.replace(/[:\\]/g, '\\$&')}:${actionOf(value)}`}`
  const times = isRepeatable ? '*' : ''
  // One that takes a value takes it behind a sign too.
  const long = flag.startsWith('--') && value !== undefined ? `${flag}=` : flag
  return [`${times}${long}${shape}`, ...(short === undefined ? [] : [`${times}${short}${shape}`])]
}

function actionOf({ kind, words }: DescribedValue): string {
  if (kind === 'words') return `(${words.join(' ')})`
  if (kind === 'file') return '_files'
  return kind === 'folder' ? '_files -/' : ' '
}
