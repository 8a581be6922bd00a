import type { Argument, Command, Option } from 'commander'
import { ListOption, ValueOption } from '../tool-command.js'

/** The kind of an option's or operand's value, by which a shell completes it. */
type ValueKind = 'file' | 'folder' | 'words' | 'text'

/** A value that a user gives. */
export interface DescribedValue {
  /** Its name in the help: `FILE`. */
  name: string
  kind: ValueKind
  /** All values, if the kind is `words`. */
  words: readonly string[]
}

/** An option of a command. */
export interface DescribedOption {
  /** `--port`, or `-V` where there is no long form. */
  flag: string
  short: string | undefined
  /** None for a flag. */
  value: DescribedValue | undefined
  description: string
  isRepeatable: boolean
}

/** An operand of a command. */
interface DescribedOperand extends DescribedValue {
  isRequired: boolean
  isVariadic: boolean
  description: string
}

/** A command, with those below it: completions, the manual and the site's reference are made of it. */
export interface DescribedCommand {
  /** Its words, from `ironstage` on. */
  path: readonly string[]
  description: string
  /** How it is called: `[options] <FILE...>`. */
  usage: string
  /** The title below which the help of its parent lists it. */
  group: string
  operands: readonly DescribedOperand[]
  options: readonly DescribedOption[]
  below: readonly DescribedCommand[]
}

/** The description of a command and of all below it; the command `help` is left out. */
export function describeCommand(command: Command, above: readonly string[] = []): DescribedCommand {
  const path = [...above, command.name()]
  return {
    path,
    description: command.description(),
    usage: command.usage(),
    group: command.helpGroup(),
    operands: command.registeredArguments.map(describeOperand),
    options: command.options.filter((option) => !option.hidden).map(describeOption),
    below: command.commands.filter((one) => one.name() !== 'help').map((one) => describeCommand(one, path)),
  }
}

/** A command and all below it, each before those below it. */
export const flatCommands = (command: DescribedCommand): DescribedCommand[] => [
  command,
  ...command.below.flatMap(flatCommands),
]

function describeOperand(operand: Argument): DescribedOperand {
  return {
    ...describeValue(operand.name(), operand.argChoices ?? []),
    isRequired: operand.required,
    isVariadic: operand.variadic,
    description: operand.description,
  }
}

function describeOption(option: Option): DescribedOption {
  const [, value] = /[<[](.*)[>\]]/.exec(option.flags) ?? []
  const words = option instanceof ValueOption ? option.words : []
  return {
    flag: option.long ?? option.short!,
    short: option.long === undefined ? undefined : option.short,
    value: value === undefined ? undefined : describeValue(value, words),
    description: option.description,
    isRepeatable: option instanceof ListOption,
  }
}

function describeValue(name: string, words: readonly string[]): DescribedValue {
  return { name, words, kind: words.length > 0 ? 'words' : kindOf(name) }
}

/** Names of values are those of the help: the table's in capitals, coreos-installer's in small letters. */
function kindOf(name: string): ValueKind {
  if (/^(DIR|FOLDER|directory)$/.test(name)) return 'folder'
  return /^(FILE|PATH|ISO|IMAGE|DIR|path|initrd)/.test(name) ? 'file' : 'text'
}
