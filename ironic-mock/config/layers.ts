import { defined, readIni, readSetting, UserError, type ConfigFile, type IniValue } from '../../base/runtime/index.js'
import { formerNames, knownOption, placeName, sectionName, type OptionPlace } from './known-options.js'
import type { IronicOption } from './option.js'
import { substituteOptions } from './substitute-options.js'

/** A value of a layer; one of a file has its line. */
type LayerValue = Omit<IniValue, 'line'> & Partial<Pick<IniValue, 'line'>>

/** One source of options: a profile, a file, or single assignments. */
export interface Layer {
  /** Name in error messages. */
  readonly name: string
  readonly sections: ReadonlyMap<string, ReadonlyMap<string, LayerValue>>
}

const CODE = 'ironic-config'

export function fileLayer(file: ConfigFile): Layer {
  const isMulti = (section: string, name: string) => isMultiOption({ section: sectionName(section), name })
  const sections = new Map<string, Map<string, LayerValue>>()
  for (const [title, values] of readIni(file, { code: CODE, example: 'automated_clean = false', isMulti })) {
    const section = sectionName(title)
    const before = sections.get(section) ?? []
    sections.set(section, new Map([...before, ...values]))
  }
  return { name: file.name, sections }
}

const isMultiOption = (place: OptionPlace): boolean => knownOption(place)?.option.multi ?? false

/**
 * @param assignments as `section.option=value` or `[section]option=value`; without a section it is `DEFAULT`
 * @throws UserError for another form
 */
export function assignedLayer(assignments: readonly string[], name: string): Layer {
  const sections = new Map<string, Map<string, LayerValue>>()
  for (const assignment of assignments) {
    const [, bracketed, dotted, option, value] =
      /^(?:\[(\w+)\]|(\w+)\.)?([\w-]+)\s*=\s*(.*)$/s.exec(assignment.trim()) ?? []
    if (option === undefined || value === undefined)
      throw badConfig(`${name} ${assignment} sets nothing`, 'write SECTION.OPTION=VALUE, as in api.max_limit=100')
    const section = bracketed ?? dotted ?? 'DEFAULT'
    const title = /^default$/i.test(section) ? 'DEFAULT' : sectionName(section)
    const options = sections.get(title) ?? new Map<string, LayerValue>()
    sections.set(title, options.set(option, { text: value }))
  }
  return { name, sections }
}

export const badConfig = (message: string, remedy: string, cause?: unknown): UserError =>
  new UserError(CODE, message, { remedy, kind: 'usage', ...defined({ cause }) })

/** Where an option is set: `[api]port in line 3 of ironic.conf`. */
export function whereSet(place: OptionPlace, layer: string, line: number | undefined): string {
  return `${placeName(place)} in ${line === undefined ? layer : `line ${line} of ${layer}`}`
}

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

  /** The text of an option under any of its names, with the options that it refers to. */
  find(option: IronicOption<unknown>): OptionText | undefined {
    const places = placesOf(option)
    const found = [...this.#layers].reverse().flatMap((layer) => {
      const value = firstValue(layer, places)
      return value === undefined ? [] : [value]
    })
    const [last] = found
    if (last === undefined || !isMultiOption(option)) return last && this.#substituted(last, option.section)
    const texts = found.toReversed().map(({ text }) => text)
    return this.#substituted({ where: last.where, text: texts.join('\n') }, option.section)
  }

  /** The text of a place, with the options that it refers to. */
  substitute(text: string, section: string): string {
    const lookUp = (place: OptionPlace): string | undefined => {
      const known = knownOption(place)
      const found = firstOf(this.#layers, known ? [known, ...formerNames(known)] : [place])
      return found?.text ?? (known && defaultText(known.option.default))
    }
    return substituteOptions(text, section, lookUp)
  }

  #substituted({ text, where }: OptionText, section: string): OptionText {
    return { where, text: this.substitute(text, section) }
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

/** Present and former places of an option. */
export function placesOf({ section, name, also }: IronicOption<unknown>): OptionPlace[] {
  const known = knownOption({ section, name })
  return [{ section, name }, ...(also ? [also] : []), ...(known ? formerNames(known) : [])]
}

function firstValue(layer: Layer, places: readonly OptionPlace[]): OptionText | undefined {
  for (const place of places) {
    const value = layer.sections.get(place.section)?.get(place.name)
    if (value !== undefined) return { text: value.text, where: whereSet(place, layer.name, value.line) }
  }
  return undefined
}

function firstOf(layers: readonly Layer[], places: readonly OptionPlace[]): OptionText | undefined {
  for (const layer of layers.toReversed()) {
    const value = firstValue(layer, places)
    if (value !== undefined) return value
  }
  return undefined
}

/** A default as a file would say it; oslo.config puts nothing in the place of one that is not set. */
function defaultText(value: unknown): string {
  if (value === undefined) return ''
  return Array.isArray(value) ? value.join(',') : String(value as string | number | boolean)
}
