import { columnLines, defined } from '../../../base/runtime/index.js'
import type { ArgSchema, Step } from '../../../steps/index.js'
import type { StepKind } from '../../../base/wire/index.js'
import type { Offered } from './step-command.js'

const KINDS: readonly StepKind[] = ['deploy', 'clean', 'service']

/** A step as one JSON object. */
export const summarizeStep = ({ step, manager }: Offered) => ({
  step: step.name,
  interface: step.interface,
  on: step.on,
  priority: Object.fromEntries(step.on.map((kind) => [kind, step.priority[kind] ?? 0])),
  abortable: step.abortable,
  reboot_requested: step.rebootRequested,
  argsinfo: step.advertise(step.on[0] ?? 'deploy').argsinfo ?? {},
  manager: manager.className,
})

/** A line a step. */
export function formatStepList(offered: readonly Offered[]): string[] {
  const rows = offered.map(({ step, manager }) => [
    step.name,
    step.interface,
    kindsOf(step)
      .map((kind) => (step.priority[kind] ? `${kind} ${step.priority[kind]}` : kind))
      .join(', '),
    manager.className,
  ])
  return columnLines([['STEP', 'INTERFACE', 'RUNS IN', 'MANAGER'], ...rows], { gap: 2 })
}

/** Help of a step: its arguments and how to request it. */
export function showText({ step, manager }: Offered): string[] {
  const args = Object.entries(step.args?.properties ?? {})
  const required = step.args?.required ?? []
  const width = Math.max(0, ...args.map(([name]) => name.length))
  return [
    step.name,
    `  interface  ${step.interface}`,
    ...kindsOf(step).map((kind, index) => `  ${index === 0 ? 'runs in  ' : '         '}  ${kind}, ${when(step, kind)}`),
    `  abortable  ${step.abortable ? 'yes' : 'no'}${step.rebootRequested ? '; the machine is rebooted after it' : ''}`,
    `  manager    ${manager.className} (${manager.name} ${manager.version})`,
    args.length === 0 ? '  arguments  none' : '  arguments',
    ...args.flatMap(([name, schema]) => [
      `    ${name.padEnd(width)}  ${typeText(schema)}${required.includes(name) ? ', required' : ''}${defaultText(schema)}`,
      `    ${' '.repeat(width)}  ${schema.description}`,
    ]),
    '  asked for as',
    `    ${JSON.stringify(request(step))}`,
  ]
}

const kindsOf = (step: Step): StepKind[] => KINDS.filter((kind) => step.on.includes(kind))

const when = (step: Step, kind: StepKind): string =>
  step.priority[kind] ? `always, with priority ${step.priority[kind]}` : 'on request'

function typeText(schema: Partial<ArgSchema>): string {
  const { type, items, anyOf, oneOf, enum: values, const: value } = schema as Record<string, unknown>
  if (value !== undefined) return JSON.stringify(value)
  if (Array.isArray(values)) return values.map((one) => JSON.stringify(one)).join(' or ')
  const choice = anyOf ?? oneOf
  if (Array.isArray(choice)) return choice.map((one) => typeText(one as Partial<ArgSchema>)).join(' or ')
  if (Array.isArray(type)) return type.join(' or ')
  if (type === 'array') return items === undefined ? 'list' : `list of ${typeText(items as Partial<ArgSchema>)}`
  return typeof type === 'string' ? type : 'anything'
}

const defaultText = (schema: ArgSchema): string =>
  schema['default'] === undefined ? '' : `, ${JSON.stringify(schema['default'])} unless given`

/** An example request with a placeholder for every required argument. */
function request(step: Step): object {
  const required = step.args?.required ?? []
  const args = Object.fromEntries(required.map((name) => [name, `<${typeText(step.args?.properties[name] ?? {})}>`]))
  return { step: step.name, interface: step.interface, ...defined({ args: required.length > 0 ? args : undefined }) }
}
