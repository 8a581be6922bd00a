import { defined, parseIni, readSetting, UserError, type ConfigFile } from '../../base/runtime/index.js'
import type { IronicOption } from './option.js'

/** One source of options: a profile, a file, or single assignments. */
export interface Layer {
  /** Name in error messages. */
  readonly name: string
  readonly sections: ReadonlyMap<string, ReadonlyMap<string, string>>
}

const CODE = 'ironic-config'
/** Options that may be repeated, each occurrence adding a value. */
const MULTI = ['clean_step_priority_override', 'verify_step_priority_override', 'pci_device_alias']

export const fileLayer = (file: ConfigFile): Layer => ({
  name: file.name,
  sections: parseIni(file, { code: CODE, example: 'automated_clean = false', multi: MULTI }),
})

/**
 * @param assignments as `section.option=value` or `[section]option=value`; without a section it is `DEFAULT`
 * @throws UserError for another form
 */
export function assignedLayer(assignments: readonly string[], name: string): Layer {
  const sections = new Map<string, Map<string, string>>()
  for (const assignment of assignments) {
    const [, bracketed, dotted, option, value] =
      /^(?:\[(\w+)\]|(\w+)\.)?(\w+)\s*=\s*(.*)$/s.exec(assignment.trim()) ?? []
    if (option === undefined || value === undefined)
      throw badConfig(`${name} ${assignment} sets nothing`, 'write SECTION.OPTION=VALUE, as in api.max_limit=100')
    const section = bracketed ?? dotted ?? 'DEFAULT'
    const title = /^default$/i.test(section) ? 'DEFAULT' : section
    const options = sections.get(title) ?? new Map<string, string>()
    sections.set(title, options.set(option, value))
  }
  return { name, sections }
}

export const badConfig = (message: string, remedy: string, cause?: unknown): UserError =>
  new UserError(CODE, message, { remedy, kind: 'usage', ...defined({ cause }) })

/** Text of an option, and where it was found, for error messages. */
interface OptionText {
  readonly text: string
  readonly where: string
}

/** Layers of options; a later one wins. */
export class Layers {
  readonly #layers: readonly Layer[]

  constructor(layers: readonly Layer[]) {
    this.#layers = layers
  }

  find({ section, name, also }: IronicOption<unknown>): OptionText | undefined {
    for (const layer of [...this.#layers].reverse())
      for (const place of [{ section, name }, ...(also ? [also] : [])]) {
        const text = layer.sections.get(place.section)?.get(place.name)
        if (text !== undefined) return { text, where: `[${place.section}]${place.name} in ${layer.name}` }
      }
    return undefined
  }

  /** @throws UserError naming file, section, option, and what can stand there */
  read<T>(option: IronicOption<T>): T | undefined {
    const found = this.find(option)
    if (!found) return undefined
    const outcome = readSetting(option, found.text)
    if ('value' in outcome) return outcome.value
    throw badConfig(`${found.where} is ${JSON.stringify(found.text)}`, `give ${outcome.expected}`)
  }
}
