import type { FaultChoice, FaultDocument } from '../../../control/index.js'

/** Texts of a form, by the names of its inputs: `kind`, `effect.status`, `match.node`, `times` ... */
export type FormTexts = Readonly<Record<string, string>>

/** Tables that a form offers from. */
export interface Choices {
  readonly kinds: readonly FaultChoice[]
  readonly apart: readonly { readonly name: string; readonly points: readonly string[] }[]
  readonly routes: readonly { readonly to: string; readonly route: string }[]
}

/** Conditions that can still be asked for: those that the kind and the other conditions leave a chance. */
export function conditionsFor(choice: FaultChoice, texts: FormTexts, { apart }: Choices): readonly string[] {
  const taken = apart.filter(({ name }) => (texts[`match.${name}`] ?? '') !== '')
  return choice.conditions.filter((name) => {
    const own = apart.find((one) => one.name === name)
    return (
      !own || taken.every((other) => other.name === name || own.points.some((point) => other.points.includes(point)))
    )
  })
}

/** Routes of calls that the effect acts on. */
export function routesFor(choice: FaultChoice, texts: FormTexts, { routes }: Choices): readonly string[] {
  const to = texts['match.to'] ?? ''
  return routes
    .filter((route) => (to === '' ? choice.asked.includes(route.to) : route.to === to))
    .map(({ route }) => route)
}

/**
 * The fault that a form describes.
 *
 * @throws Error that says which input is missing
 */
export function faultOf(choice: FaultChoice, texts: FormTexts, choices: Choices): FaultDocument {
  const text = (name: string): string => (texts[name] ?? '').trim()
  const effect: Record<string, unknown> = { kind: choice.kind }
  for (const { name, isRequired, schema } of choice.members) {
    const value = text(`effect.${name}`)
    if (value === '' && isRequired) throw new Error(`${name} is missing: ${choice.kind} needs it`)
    if (value !== '') effect[name] = valueOf(value, schema['type'])
  }
  const offered = conditionsFor(choice, texts, choices)
  const match = Object.fromEntries(
    offered.flatMap((name) => (text(`match.${name}`) === '' ? [] : [[name, text(`match.${name}`)]])),
  )
  const from = text('from')
  const to = text('to')
  if ((from === '') !== (to === '')) throw new Error('name both times between which it strikes, or none')
  return {
    match,
    effect: effect as unknown as FaultDocument['effect'],
    ...(text('times') === '' ? {} : { times: Number(text('times')) }),
    ...(text('after') === '' ? {} : { after: Number(text('after')) }),
    ...(text('probability') === '' ? {} : { probability: Number(text('probability')) }),
    ...(from === '' ? {} : { between: [from, to] as const }),
    ...(text('label') === '' ? {} : { label: text('label') }),
  }
}

function valueOf(text: string, type: unknown): unknown {
  if (type === 'integer' || type === 'number') return Number(text)
  if (type !== undefined) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
