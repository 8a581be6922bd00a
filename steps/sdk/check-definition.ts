import { UserError } from '../../base/runtime/index.js'
import { STEP_INTERFACES } from '../../base/wire/index.js'

/** A definition; one from JavaScript or unchecked TypeScript may lack any of its fields. */
interface Definition {
  name: string
  interface: string
  on: readonly string[]
  args?: { properties: Record<string, { description?: unknown }>; required?: readonly string[] }
  run: unknown
}

const KINDS = ['deploy', 'clean', 'service']

/**
 * Refuses definitions that Ironic could not use. Files of steps are not type-checked when they are loaded.
 *
 * @throws UserError that names the step and its defect
 */
export function checkDefinition(definition: Definition): void {
  const { name, on, args, run } = definition
  if (typeof name !== 'string' || name === '')
    throw stepDefinitionError('a step', 'has no name', "give it one: defineStep({ name: 'wipe_nvme', ... })")
  const step = `the step ${name}`
  if (!/^[A-Za-z][\w.-]*$/.test(name))
    throw stepDefinitionError(
      step,
      'has a name with characters that requests cannot carry',
      'use letters, digits and underscores, a letter first',
    )
  if (!(STEP_INTERFACES as readonly unknown[]).includes(definition.interface))
    throw stepDefinitionError(
      step,
      `has the interface ${String(definition.interface)}`,
      `use one of ${STEP_INTERFACES.join(', ')}`,
    )
  if (!Array.isArray(on) || on.length === 0 || !on.every((kind) => KINDS.includes(kind as string)))
    throw stepDefinitionError(
      step,
      'does not list its kinds of work',
      "add on: ['deploy'], 'clean', 'service' or several of them",
    )
  if (typeof run !== 'function')
    throw stepDefinitionError(step, 'has no function run', 'add run: async (context, args) => { ... }')
  if (args === undefined) return
  if (typeof args.properties !== 'object' || args.properties === null)
    throw stepDefinitionError(
      step,
      'has args without properties',
      'write args: { properties: { NAME: { type, description } } }',
    )
  for (const [arg, schema] of Object.entries(args.properties))
    if (typeof schema?.description !== 'string' || schema.description === '')
      throw stepDefinitionError(
        step,
        `does not describe its argument ${arg}`,
        'add a description: Ironic shows it to users',
      )
  for (const arg of args.required ?? [])
    if (!Object.hasOwn(args.properties, arg))
      throw stepDefinitionError(step, `requires an argument ${arg} that it does not have`, 'add it to the properties')
}

const stepDefinitionError = (step: string, problem: string, remedy: string): UserError =>
  new UserError('step-definition', `${step} ${problem}`, { remedy, kind: 'usage' })
