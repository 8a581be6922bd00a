import { Command, CommanderError, Help, Option, type HelpContext } from 'commander'
import { INSTALLER_COMMANDS } from './installer/installer-syntax.js'
import { usageError } from './usage-error.js'

/** An option whose values are known, if there are words. */
export class ValueOption extends Option {
  constructor(
    flags: string,
    description: string,
    readonly words: readonly string[] = [],
  ) {
    super(flags, description)
  }
}

/** An option that may be given several times, one value each. Any other option may be given once. */
export class ListOption extends ValueOption {
  constructor(flags: string, description: string, words?: readonly string[]) {
    super(flags, description, words)
    this.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text])
  }
}

/** Places that are named for a command that is somewhere else. */
const MAX_OTHER_PLACES = 4

/** A command of ironstage: its help fits the terminal, and wrong usage is an error like any other. */
export class ToolCommand extends Command {
  override createCommand(name?: string): ToolCommand {
    return new ToolCommand(name)
  }

  override createHelp(): Help {
    return Object.assign(new NarrowHelp(), this.configureHelp())
  }

  override addOption(option: Option): this {
    let times = 0
    this.on(`option:${option.name()}`, (value: unknown) => {
      if (++times > 1 && !(option instanceof ListOption)) this.error(`${option.long} is given ${times} times`)
      if (value === '' && !this.takesEmptyValues) this.error(`the value of ${option.long} is empty`)
    })
    return super.addOption(option)
  }

  /** Options of coreos-installer take empty values. */
  private get takesEmptyValues(): boolean {
    return INSTALLER_COMMANDS.includes(this.path[1] ?? '')
  }

  /** The command's words, from the program down. */
  get path(): string[] {
    return [...(this.parent instanceof ToolCommand ? this.parent.path : []), this.name()]
  }

  /** Help that was requested is no failure: the exit code of the process, which Commander takes, is 1 until its end. */
  override help(context?: HelpContext | ((text: string) => string)): never {
    if (typeof context === 'object' && context.error) super.help(context)
    this.outputHelp()
    throw new CommanderError(0, 'commander.help', '(outputHelp)')
  }

  /** @throws UserError (usage) always */
  override error(message: string): never {
    const [, what = message, nearest] = /^(?:error: )?(.*?)\.?(?:\n\(Did you mean (.*)\?\))?$/s.exec(message) ?? []
    const path = this.path.join(' ')
    const better = this.#elsewhere(what) ?? nearest ?? this.#inOtherCase(what)
    throw usageError(`${what} (${path})`, better ?? `${path} --help`)
  }

  /** Commands of that name in other places; of a group with one command that one, when a file is given to the group. */
  #elsewhere(what: string): string | undefined {
    const [, word] = /^unknown command '(.*)'$/s.exec(what) ?? []
    if (word === undefined) return undefined
    const [only, ...others] = this.#toolCommands()
    const wanted =
      /[./]/.test(word) && only && others.length === 0 ? [only] : this.#root.#withName(word).slice(0, MAX_OTHER_PLACES)
    return wanted.length === 0 ? undefined : wanted.map((command) => command.#call).join(' or ')
  }

  /** `ironstage bmh explain FILE` */
  get #call(): string {
    return [...this.path, ...this.registeredArguments.map((argument) => argument.name())].join(' ')
  }

  get #root(): ToolCommand {
    return this.parent instanceof ToolCommand ? this.parent.#root : this
  }

  #withName(word: string): ToolCommand[] {
    return this.#toolCommands().flatMap((command) => [
      ...(command.name() === word ? [command] : []),
      ...command.#withName(word),
    ])
  }

  #toolCommands(): ToolCommand[] {
    return this.commands.filter((command) => command instanceof ToolCommand)
  }

  /** The option whose letter is unknown only as a small one, or as a capital. */
  #inOtherCase(what: string): string | undefined {
    const [, letter] = /^unknown option '-([A-Za-z])'$/.exec(what) ?? []
    return this.options.find(({ short }) => short?.toLowerCase() === `-${letter?.toLowerCase()}`)?.flags
  }
}

/** Terms longer than this have their description on the next line. */
const TERM_WIDTH = 24
const INDENT = 2

/** Help no wider than the terminal. */
class NarrowHelp extends Help {
  override minWidthToWrap = 20

  override formatItem(term: string, termWidth: number, description: string): string {
    const width = this.helpWidth ?? 80
    const column = INDENT + Math.min(termWidth, TERM_WIDTH, Math.floor(width / 3)) + INDENT
    const first = ' '.repeat(INDENT) + term
    if (!description) return first
    const lines = this.boxWrap(description, width - column).split('\n')
    const fits = first.length + INDENT <= column
    const text = fits
      ? [first.padEnd(column) + lines[0]!, ...lines.slice(1).map((line) => ' '.repeat(column) + line)]
      : [first, ...lines.map((line) => ' '.repeat(column) + line)]
    return text.join('\n')
  }
}
