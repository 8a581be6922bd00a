import type { ErrorObject } from 'ajv'
import { defined } from '../../base/runtime/index.js'
import type { AdvertisedStep, ArgsInfo, JsonObject, StepInterface, StepKind } from '../../base/wire/index.js'
import type { ArgsOf, ArgsSchema } from './arg-types.js'
import { checkDefinition } from './check-definition.js'
import { stepHardware } from '../hardware/step-hardware.js'
import { schemaCheck } from '../../base/schemas/index.js'
import { withFullDiskReason } from './disk-full.js'
import { BadStepArguments, type Step, type StepContext } from './step.js'

export type { ArgsSchema } from './arg-types.js'

/** Definition of a step, for {@link defineStep}. */
export interface StepDefinition<Args> {
  name: string
  interface: StepInterface
  /** The kinds of work that it can be part of. */
  on: readonly StepKind[]
  /** Advertised priority by kind; 0, the default, means that the step runs only on request. */
  priority?: Partial<Record<StepKind, number>>
  args?: ArgsSchema
  /** True if Ironic may give up waiting for it when cleaning or servicing is aborted. Default false. */
  abortable?: boolean
  /**
   * Kinds of work for which `abortable` is advertised; to Ironic its absence means no. Default cleaning and service, since a
   * waiting deployment is always abortable (recording agent-full-lifecycle).
   */
  abortableOn?: readonly StepKind[]
  /**
   * Advertised arguments: `derived` (default) from the schema, or none (`absent`, `empty`), as some steps of upstream
   * advertise them (recording agent-api-direct).
   */
  argsinfo?: 'derived' | 'absent' | 'empty'
  /** True if Ironic reboots the machine after it. Default false. */
  rebootRequested?: boolean
  /** Does the work. An error becomes the failure of the step; the returned value is sent to Ironic. */
  run(context: StepContext, args: Args): Promise<unknown>
}

/**
 * Makes a step. `argsinfo` is derived from the arguments' schema. Arguments are checked, and get their defaults, before
 * `run` is called, so that bad ones are refused before anything is changed.
 *
 * The type of `args` is derived from the schema. For a schema that is computed, name it: `defineStep<MyArgs>({ ... })`.
 *
 * @throws UserError for an invalid definition: without a name or a kind of work, or with an argument without description
 *
 * @example
 * import { defineStep } from 'ironstage'
 *
 * export const wait = defineStep({
 *   name: 'wait',
 *   interface: 'deploy',
 *   on: ['clean'],
 *   args: { properties: { seconds: { type: 'number', description: 'How long.' } }, required: ['seconds'] },
 *   run: ({ clock, signal }, { seconds }) => clock.sleep(seconds * 1000, { signal }),
 * })
 */
export function defineStep<const S extends ArgsSchema = { properties: Record<never, never> }>(
  definition: Omit<StepDefinition<ArgsOf<S>>, 'args'> & { args?: S },
): Step
export function defineStep<Args>(definition: StepDefinition<Args>): Step
export function defineStep<Args>(definition: StepDefinition<Args>): Step {
  checkDefinition(definition)
  const { name, args = { properties: {} }, priority = {}, abortable = false, rebootRequested = false } = definition
  const { abortableOn = ['clean', 'service'] } = definition
  const accepts = checker<Args>(name, args)
  const argsinfo = advertised(args, definition.argsinfo ?? 'derived')
  return {
    name,
    interface: definition.interface,
    on: definition.on,
    priority,
    abortable,
    rebootRequested,
    args,
    advertise(kind): AdvertisedStep {
      return {
        step: name,
        priority: priority[kind] ?? 0,
        interface: definition.interface,
        reboot_requested: rebootRequested,
        ...defined({ abortable: abortableOn.includes(kind) ? abortable : undefined, argsinfo }),
      }
    },
    run: async (context, passed) => {
      const accepted = accepts(passed)
      try {
        return await definition.run({ ...context, hardware: stepHardware(context.target, context.node) }, accepted)
      } catch (error) {
        throw await withFullDiskReason(context.target, error)
      }
    },
  }
}

function advertised(args: ArgsSchema, how: 'derived' | 'absent' | 'empty'): ArgsInfo | undefined {
  switch (how) {
    case 'derived':
      return argsInfo(args)
    case 'absent':
      return undefined
    case 'empty':
      return {}
  }
}

function argsInfo({ properties, required = [] }: ArgsSchema): ArgsInfo | undefined {
  const names = Object.keys(properties)
  if (names.length === 0) return undefined
  return Object.fromEntries(
    names.map((arg) => [arg, { description: properties[arg]!.description, required: required.includes(arg) }]),
  )
}

function checker<Args>(step: string, args: ArgsSchema): (passed: JsonObject) => Args {
  const schema = schemaCheck<Args>({
    type: 'object',
    additionalProperties: false,
    properties: args.properties,
    required: args.required ?? [],
  })
  const withDefault = Object.entries(args.properties).filter(([, property]) => property['default'] !== undefined)
  const defaults = Object.fromEntries(withDefault.map(([arg, property]) => [arg, property['default'] as unknown]))
  return (passed) => {
    // Several clients send null for an absent argument.
    const present: unknown = {
      ...defaults,
      ...Object.fromEntries(Object.entries(passed).filter(([, value]) => value !== null)),
    }
    if (schema.accepts(present)) return present
    throw new BadStepArguments(complaint(step, args, schema.errors()))
  }
}

/** Message for bad arguments, in Ironic's words (recording agent-manual-clean); never the value, which may be a secret. */
function complaint(step: string, args: ArgsSchema, errors: readonly ErrorObject[]): string {
  const unexpected = errors.filter((e) => e.keyword === 'additionalProperties' && e.instancePath === '')
  if (unexpected.length > 0)
    return `step ${step} has these unexpected arguments: ${unexpected
      .map((e) => String((e.params as { additionalProperty: string }).additionalProperty))
      .join(', ')}`
  const missing = errors.filter((e) => e.keyword === 'required' && e.instancePath === '')
  if (missing.length > 0)
    return `step ${step} is missing these required arguments: ${missing
      .map((e) => String((e.params as { missingProperty: string }).missingProperty))
      .map((arg) => `${arg} (${args.properties[arg]?.description ?? ''})`)
      .join(', ')}`
  const [error] = errors
  const [, arg = '', ...inside] = (error?.instancePath ?? '').split('/')
  const place = inside.length > 0 ? ` at ${inside.join('.')}` : ''
  return `argument ${arg} of step ${step} is not valid: it ${error?.message ?? 'has the wrong shape'}${place}`
}
