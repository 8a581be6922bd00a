import type { KindEntry } from './kinds/kind-entry.js'
import type { KubeListOptions } from './kube-client.js'
import { isMet, type Requirement } from './label-selectors.js'
import { badRequest } from './refusals.js'
import { fieldReader } from './selectable-fields.js'
import type { Stored } from './stored-object.js'

export type Selects = (object: Stored) => boolean

/**
 * The objects that a list or a watch is asked for.
 *
 * @param kind where fields are selected: each kind has its own
 * @throws KubeRefusal 400 for a selector that cannot be read
 */
export function makeSelector({ namespace, labelSelector, fieldSelector }: KubeListOptions, kind?: KindEntry): Selects {
  const labels = labelSelector === undefined ? [] : requirementsOf(labelSelector)
  const fields = fieldSelector === undefined ? [] : fieldRequirements(fieldSelector, kind)
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    labels.every((each) => isMet(each, object.metadata.labels ?? {})) &&
    fields.every(({ read, value, isEqual }) => (read(object) === value) === isEqual)
}

const listed = (values: string): string[] => values.split(',').map((each) => each.trim())

const splitSelectorValues = String.raw`[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?`
const REQUIREMENT_FORMS: readonly [RegExp, (key: string, values: string) => Requirement][] = [
  [
    new RegExp(`^(${splitSelectorValues})\\s+in\\s*\\(([^()]*)\\)$`),
    (key, values) => ({ key, operator: 'in', values: listed(values) }),
  ],
  [
    new RegExp(`^(${splitSelectorValues})\\s+notin\\s*\\(([^()]*)\\)$`),
    (key, values) => ({ key, operator: 'notin', values: listed(values) }),
  ],
  [
    new RegExp(`^(${splitSelectorValues})\\s*==?\\s*([^\\s=!<>()]*)$`),
    (key, value) => ({ key, operator: 'in', values: [value] }),
  ],
  [
    new RegExp(`^(${splitSelectorValues})\\s*!=\\s*([^\\s=!<>()]*)$`),
    (key, value) => ({ key, operator: 'notin', values: [value] }),
  ],
  [
    new RegExp(`^(${splitSelectorValues})\\s*>\\s*(-?\\d+)$`),
    (key, value) => ({ key, operator: 'gt', values: [value] }),
  ],
  [
    new RegExp(`^(${splitSelectorValues})\\s*<\\s*(-?\\d+)$`),
    (key, value) => ({ key, operator: 'lt', values: [value] }),
  ],
  [new RegExp(`^(${splitSelectorValues})$`), (key) => ({ key, operator: 'exists', values: [] })],
  [new RegExp(`^!\\s*(${splitSelectorValues})$`), (key) => ({ key, operator: '!', values: [] })],
]

function requirementsOf(text: string): Requirement[] {
  if (text.trim() === '') return []
  return requirementTexts(text).map((part) => {
    const trimmed = part.trim()
    for (const [form, made] of REQUIREMENT_FORMS) {
      const found = form.exec(trimmed)
      if (found) return made(found[1]!, found[2] ?? '')
    }
    throw badRequest(`unable to parse requirement: ${JSON.stringify(trimmed)} is no selector`)
  })
}

/** A comma between parentheses is one of a list of values. */
function requirementTexts(text: string): string[] {
  const parts: string[] = []
  let start = 0
  let isInList = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '(') isInList = true
    else if (character === ')') isInList = false
    else if (character === ',' && !isInList) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  parts.push(text.slice(start))
  return parts
}

interface FieldRequirement {
  read: (object: Stored) => string
  value: string
  isEqual: boolean
}

function fieldRequirements(text: string, kind: KindEntry | undefined): FieldRequirement[] {
  return text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const found = /^([^=!]+)(!=|==?)(.*)$/.exec(part)
      if (!found) throw badRequest(`invalid selector: '${part}'; can't understand '${part}'`)
      const [, field = '', operator, value = ''] = found
      return { read: fieldReader(field, kind), value, isEqual: operator !== '!=' }
    })
}
