import { readSetting } from '../../base/runtime/index.js'
import { badConfig, whereSet, type Layer, type Layers } from './layers.js'
import {
  authenticationOption,
  knownOption,
  LISTED_OPTIONS,
  nearestOption,
  nearestSection,
  placeName,
  type OptionPlace,
} from './known-options.js'
import type { ListedOption } from './listed-option.js'
import type { IronicOption } from './option.js'
import { OPTION_LISTING } from './option-listing.js'
import { expectedValue } from './option-values.js'

/** A setting that cannot be used. */
interface SettingProblem {
  readonly sentence: string
  readonly remedy: string
}

/** A setting of an operator's layer. */
interface WrittenSetting extends OptionPlace {
  readonly layer: string
  readonly line: number | undefined
  readonly text: string
}

/** Options that have an effect here, by `[section]name` under each name that they have. */
export type EffectiveOptions = ReadonlyMap<string, IronicOption<unknown>>

/**
 * Checks what an operator has set: that Ironic has the option, and that it takes the value.
 *
 * @param all the layers with those of the profile below them, for options that a value refers to
 * @returns settings of each layer that have no effect here, as `[section]name`
 * @throws UserError `ironic-config` with all problems of all layers
 */
export function checkLayers(
  operator: readonly Layer[],
  all: Layers,
  effective: EffectiveOptions,
): ReadonlyMap<string, readonly string[]> {
  const problems: SettingProblem[] = []
  const inert = new Map<string, string[]>()
  const authenticating = authenticationSections(operator)
  for (const setting of operator.flatMap(writtenSettings)) {
    const known = knownOption(setting) ?? (authenticating.has(setting.section) && authenticationOption(setting))
    const ours = effective.get(placeName(setting)) ?? (known ? effective.get(placeName(known)) : undefined)
    const problem =
      known || ours
        ? valueProblem(setting, known ? known.option : undefined, ours, all)
        : unknownOption(setting, effective)
    if (problem) problems.push(problem)
    else if (!ours) inert.set(setting.layer, [...(inert.get(setting.layer) ?? []), placeName(setting)])
  }
  if (problems.length > 0) throw problemsError(problems)
  return inert
}

function writtenSettings({ name: layer, sections }: Layer): WrittenSetting[] {
  return [...sections].flatMap(([section, values]) =>
    [...values].map(([name, { text, line }]) => ({ layer, section, name, text, line })),
  )
}

const SECTIONS_WITH_AUTH = LISTED_OPTIONS.filter(({ name }) => name === 'auth_type').map(({ section }) => section)

/** Sections with options of authentication plugins: those that have `auth_type`, and those that an `auth_section` names. */
function authenticationSections(layers: readonly Layer[]): ReadonlySet<string> {
  const named = layers.flatMap(writtenSettings).filter(({ name }) => name === 'auth_section')
  return new Set([...SECTIONS_WITH_AUTH, ...named.map(({ text }) => text)])
}

/** A value that Ironic does not take, or else one that ironstage does not. */
function valueProblem(
  setting: WrittenSetting,
  listed: ListedOption | undefined,
  ours: IronicOption<unknown> | undefined,
  all: Layers,
): SettingProblem | undefined {
  const text = all.substitute(setting.text, setting.section)
  const outcome = ours && readSetting(ours, text)
  const expected =
    (listed && expectedValue(listed, text)) ?? (outcome && 'expected' in outcome ? outcome.expected : undefined)
  if (expected === undefined) return undefined
  const shown = listed?.secret ? 'a secret that cannot be used' : JSON.stringify(text)
  return { sentence: `${whereOf(setting)} is ${shown}`, remedy: `give ${expected}` }
}

function unknownOption(setting: WrittenSetting, effective: EffectiveOptions): SettingProblem {
  const ours = [...effective.values()]
  const hasSection = [...LISTED_OPTIONS, ...ours].some(({ section }) => section === setting.section)
  const near = nearestOption(setting, ours)
  const section = hasSection ? undefined : nearestSection(setting.section, ours)
  const meant = near ? placeName(near) : section && `the section [${section}]`
  return {
    sentence: `${whereOf(setting)} is no option of Ironic ${OPTION_LISTING.packages['ironic']}`,
    remedy: meant === undefined ? 'leave it out: Ironic has no option with a similar name' : `did you mean ${meant}?`,
  }
}

const whereOf = (setting: WrittenSetting): string => whereSet(setting, setting.layer, setting.line)

function problemsError(problems: readonly SettingProblem[]) {
  const [first] = problems
  if (problems.length === 1) return badConfig(first!.sentence, first!.remedy)
  const lines = problems.map(({ sentence, remedy }) => `  ${sentence}; ${remedy}`)
  return badConfig(
    [`${problems.length} settings cannot be used:`, ...lines].join('\n'),
    'correct them, or leave them out',
  )
}
